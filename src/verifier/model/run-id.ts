/** Pattern of run ids: every id is a valid folder name on every store. */
export const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
