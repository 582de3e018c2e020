/** Refuses a file of an archive. The message is a clause that goes on from the name of the file. */
export class ArchiveRefusal extends Error {}
