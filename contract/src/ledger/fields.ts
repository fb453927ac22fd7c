/** The causes of ledger entries. A player's balance is the sum of the player's ledger entries. */
export const entryCauses = {
  // Not reversible: the next import would add the difference to the imported balance again.
  opening: { label: 'Opening balance', isReversible: false },
  import: { label: 'Import', isReversible: false },
  claim: { label: 'Claim', isReversible: true },
  adjustment: { label: 'Adjustment', isReversible: true },
  reversal: { label: 'Reversal', isReversible: false },
} as const
/** The console's own causes. A game names its own. */
export type EntryCause = keyof typeof entryCauses

/** Whether an entry with this cause can be reversed. */
export function isReversible(cause: string): boolean {
  return isOwnCause(cause) ? entryCauses[cause].isReversible : true
}

export function isOwnCause(cause: string): cause is EntryCause {
  return Object.hasOwn(entryCauses, cause)
}
