/** The limits of saved views, apart from their schemas: the first page of the web app loads the catalogue of errors, which names one. */
export const VIEW_NAME_MAX_LENGTH = 60
/** All parts of a list's address at their longest are shorter. */
export const VIEW_ADDRESS_MAX_LENGTH = 2000
/** One person makes at most so many. */
export const VIEWS_MAX = 100
