/** The entries of players' ledgers (design §7): what each kind of them is. A player's balance is the sum of his entries. */
export const entryCauses = {
  opening: { label: 'Opening balance' },
  import: { label: 'Import' },
  claim: { label: 'Claim' },
  adjustment: { label: 'Adjustment' },
  reversal: { label: 'Reversal' },
} as const
/** The console's own. A game names the causes of its entries itself. */
export type EntryCause = keyof typeof entryCauses
