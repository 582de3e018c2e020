/** One thing that was found out, with its proof. */
export interface Finding {
  what: string;
  found: string;
  how: string;
}

/** One thing that was not, with what that costs and what to do about it. */
export interface Missing {
  what: string;
  why: string;
  costs: string;
  /** Nothing can be exported without it. */
  isNeeded: boolean;
}

/** What a probe says of its reasoning, in the order in which it reasoned. */
export class Reasoning {
  readonly findings: Finding[] = [];
  readonly missing: Missing[] = [];

  found(what: string, found: string, how: string): void {
    this.findings.push({ what, found, how });
  }

  lacks(what: string, why: string, costs: string): void {
    this.missing.push({ what, why, costs, isNeeded: false });
  }

  needs(what: string, why: string, costs: string): void {
    this.missing.push({ what, why, costs, isNeeded: true });
  }
}
