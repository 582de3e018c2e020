import { afterAll, beforeAll, type MockInstance, vi } from 'vitest';

/** Has waits between attempts in this process be the shortest of those that chance may choose, for a test file. */
export function chooseShortestWaits(): void {
  let chance: MockInstance;
  beforeAll(() => {
    chance = vi.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterAll(() => chance.mockRestore());
}
