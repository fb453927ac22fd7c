/** The entries of players' ledgers (design §7): what each kind of them is. A player's balance is the sum of his entries. */
export const entryCauses = {
  // The next import would add the difference to what this one brought, whatever became of its entry.
  opening: { label: 'Opening balance', isReversible: false },
  import: { label: 'Import', isReversible: false },
  claim: { label: 'Claim', isReversible: true },
  adjustment: { label: 'Adjustment', isReversible: true },
  reversal: { label: 'Reversal', isReversible: false },
} as const
/** The console's own. A game names the causes of its entries itself. */
export type EntryCause = keyof typeof entryCauses

/** Whether an entry of this cause can be taken back by a reversal. */
export function isReversible(cause: string): boolean {
  return isOwnCause(cause) ? entryCauses[cause].isReversible : true
}

export function isOwnCause(cause: string): cause is EntryCause {
  return Object.hasOwn(entryCauses, cause)
}
