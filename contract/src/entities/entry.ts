/** The entries of players' ledgers (design §7): what each kind of them is. A player's balance is the sum of his entries. */
export const entryCauses = {
  opening: { label: 'Opening balance' },
  import: { label: 'Import' },
  claim: { label: 'Claim' },
} as const
export type EntryCause = keyof typeof entryCauses
