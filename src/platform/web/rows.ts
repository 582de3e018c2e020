/** Rows of a list on its own page, and beside others. */
export const LIST_ROWS = 25;
export const SHORT_ROWS = 10;
