/** The limits of saved views, without schemas: the web app's first page loads the catalogue of errors, which uses one of them. */
export const VIEW_NAME_MAX_LENGTH = 60
/** Longest address, in characters: more than all parts of a list's address together. */
export const VIEW_ADDRESS_MAX_LENGTH = 4000
/** Most views that one user can own. */
export const VIEWS_MAX = 100
