/** The limits of saved views, without schemas: the web app's first page loads the catalogue of errors, which uses one of them. */
export const MAX_VIEW_NAME_LENGTH = 60
/** Longest address, in characters: more than all parts of a list's address together. */
export const MAX_VIEW_ADDRESS_LENGTH = 4000
/** Most views that one user can own. */
export const MAX_VIEWS = 100
