/** Numbers of rows of a list on its own page, and next to other content. */
export const LIST_ROWS = 25;
export const SHORT_ROWS = 10;
