/** The id of a run: a name of a folder on every store. */
export const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
