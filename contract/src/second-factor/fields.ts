/** What a second factor can be, and who must have one. Imports no package: the first page of the web app loads it. */

/** The ways to prove a second factor, with their names. */
export const secondFactorLabels = { totp: 'Authenticator app', passkey: 'Passkey', recovery: 'Recovery code' } as const
export type SecondFactorMethod = keyof typeof secondFactorLabels
export const secondFactorMethods = Object.keys(secondFactorLabels) as [SecondFactorMethod, ...SecondFactorMethod[]]

/** SECOND_FACTOR: `optional` for everybody, or a must for `admins`. */
export const secondFactorPolicies = ['optional', 'admins'] as const
export type SecondFactorPolicy = (typeof secondFactorPolicies)[number]

/** The number of recovery codes that a person gets together: as many as most products give. */
export const RECOVERY_CODES = 10
/** Minutes for which a proof of the second factor is enough for calls that ask for it again. */
export const STEP_UP_MINUTES = 10
/** Bulk acts on more records than this ask for the second factor again: a slip of one page of a list stays below it. */
export const STEP_UP_RECORDS = 1000
/** Adjustments of more points than this ask for it again: everyday corrections stay far below. */
export const STEP_UP_POINTS = 100_000
