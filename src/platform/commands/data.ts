/** The option that names the data folder. */
export const dataOption = {
  type: 'string',
  demandOption: true,
  requiresArg: true,
  describe: 'The folder with the database and the keys',
} as const;
