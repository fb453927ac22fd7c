/** The order from A to Z in the tests' models: small letters in the root order of ICU, which is that of English (ADR 25). */
const root = new Intl.Collator('en')

export function compareAToZ(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()]
  return root.compare(a, b) || Buffer.compare(Buffer.from(a), Buffer.from(b))
}
