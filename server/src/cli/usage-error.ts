/** A command that does not make sense: exit 1 with this message. */
export class UsageError extends Error {}
