/** The first moment at which an object that is stored now may be deleted. Whole seconds: not every store keeps more. */
export function retainUntil(years: number, now: Date): Date {
  const until = new Date(now);
  until.setUTCFullYear(until.getUTCFullYear() + years);
  until.setUTCMilliseconds(0);
  return until;
}
