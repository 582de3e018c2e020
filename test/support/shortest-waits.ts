import { afterAll, beforeAll, type MockInstance, vi } from 'vitest';

/** Makes each random wait between attempts in this process the shortest possible, for one test file. */
export function chooseShortestWaits(): void {
  let chance: MockInstance;
  beforeAll(() => {
    chance = vi.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterAll(() => chance.mockRestore());
}
