import { openMemoryArchive } from '../../src/archive/memory.ts';
import { describeArchive } from '../contract/archive.ts';

describeArchive('memory', async () => openMemoryArchive());
