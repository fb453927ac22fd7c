/** Passkeys: their limits. Imports no package: the first page of the web app loads it. */

/** The most passkeys of a person: more than anybody has devices, and still a short list on the account page. */
export const MAX_PASSKEYS = 20
