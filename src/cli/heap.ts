import { setFlagsFromString } from 'node:v8';

/**
 * What a walk allocates dies at once: letting the heap grow ahead of it would cost 60 MB and save no time. And each block
 * that a socket reads is memory of its own outside of the heap.
 */
export function holdHeap(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=10');
  // The young generation has its size by now. V8 asks for this once more when memory outside of the heap is made: at four
  // times as much of it the young generation is collected, and not at 64 MB.
  setFlagsFromString('--scavenger-max-new-space-capacity-mb=1');
}

/**
 * For an export: what arrives passes through buffers by the gigabyte, and a heap that is held tight would be collected
 * again and again, which costs far more than the 20 MB that it saves.
 */
export function letHeapGrow(): void {
  setFlagsFromString('--heap-growing-percent=100');
}
