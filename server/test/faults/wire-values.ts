/**
 * Generates values that a schema of the contract accepts, in the form in which a JSON body or query string carries them. It ignores
 * refinements of whole objects, so zod refuses a few of the values; answers.ts asks zod which ones.
 */
import fc from 'fast-check'
import type { core, ZodType } from 'zod'

/** Proposes values for a field by its name, such as existing ids. `undefined` if any value of the schema will do. */
export type Proposals = (field: string) => fc.Arbitrary<unknown> | undefined

export function wireValue(schema: ZodType, proposals: Proposals, field = ''): fc.Arbitrary<unknown> {
  const proposed = proposals(field)
  const any = anyOf(definitionOf(schema), proposals, field)
  return proposed ? fc.oneof({ weight: 5, arbitrary: proposed }, { weight: 1, arbitrary: any }) : any
}

type Definition = core.$ZodTypes['_zod']['def']

function definitionOf(schema: unknown): Definition {
  return (schema as { def: Definition }).def
}

function anyOf(def: Definition, proposals: Proposals, field: string): fc.Arbitrary<unknown> {
  const within = (inner: unknown, name = field) => wireValue(inner as ZodType, proposals, name)
  switch (def.type) {
    case 'string':
      return textOf(boundsOf(def))
    case 'number':
      return numberOf(boundsOf(def))
    case 'boolean':
      return fc.boolean()
    case 'enum':
      return fc.constantFrom(...Object.values(def.entries))
    case 'literal':
      return fc.constantFrom(...def.values)
    case 'optional':
    case 'default':
      return fc.oneof(within(def.innerType), fc.constant(undefined))
    case 'nullable':
      return fc.oneof(within(def.innerType), fc.constant(null))
    case 'union':
      return fc.oneof(...def.options.map((option) => within(option)))
    case 'pipe':
      return isTransform(def.out) ? within(def.in) : fc.oneof(within(def.in), { weight: 3, arbitrary: within(def.out) })
    case 'array': {
      const { minimum = 0, maximum = 1000 } = boundsOf(def)
      return fc.array(within(def.element), { minLength: minimum, maxLength: Math.min(maximum, minimum + 4) })
    }
    case 'object': {
      const fields = Object.entries(def.shape).map(([name, inner]) => [name, within(inner, name)] as const)
      return fc.record(Object.fromEntries(fields)).map(withoutUndefined)
    }
    case 'record':
      return fc.dictionary(fc.string({ maxLength: 12 }), fc.jsonValue(), { maxKeys: 4 })
    case 'unknown':
      return fc.jsonValue()
    case 'custom': // the bytes of an upload, which the request adds itself
      return fc.constant({})
    default:
      throw new Error(`no values are made for the schema ${def.type} of ${field}: add it here`)
  }
}

interface Bounds {
  minimum?: number
  maximum?: number
  /** Such as `datetime` or `safeint`. */
  format?: string
  pattern?: RegExp
}

/** Collects the bounds of a schema and its checks. Later checks win, as in a chain. */
function boundsOf(def: { checks?: core.$ZodCheck[] | undefined }): Bounds {
  const checks = [def, ...(def.checks ?? []).map((check) => check['_zod'].def)] as Partial<core.$ZodChecks['_zod']['def']>[]
  const bounds: Bounds = {}
  for (const check of checks) {
    if ('minimum' in check && check.minimum !== undefined) bounds.minimum = check.minimum
    if ('maximum' in check && check.maximum !== undefined) bounds.maximum = check.maximum
    if ('format' in check && check.format !== undefined) bounds.format = check.format
    if ('pattern' in check && check.pattern !== undefined) bounds.pattern = check.pattern
    if (check.check === 'greater_than' && 'value' in check) bounds.minimum = Number(check.value)
    if (check.check === 'less_than' && 'value' in check) bounds.maximum = Number(check.value)
  }
  return bounds
}

const LONG = 300
const oddTexts = [
  'O’Neil & Sons <b>"quoted"</b>',
  '=1+1',
  '@SUM(A1)',
  "'; drop table users; --",
  '100 %_\\',
  'Ünïcödé 名前 👩‍👩‍👧',
  '\u202eright to left',
  '{{7*7}}${7*7}',
  '../../etc/passwd',
  'null',
  '0',
]

function textOf({ minimum = 0, maximum = 1000, format, pattern }: Bounds): fc.Arbitrary<string> {
  if (format === 'datetime') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
  if (format === 'uuid') return fc.uuid()
  if (pattern !== undefined) {
    const isEmail = pattern.test('someone@gmail.com')
    if (isEmail) return emails
    return pattern.unicode ? names : fc.stringMatching(new RegExp(pattern.source))
  }
  const maxLength = Math.min(maximum, LONG)
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: minimum, maxLength: Math.min(maxLength, minimum + 20) }),
    },
    { weight: 2, arbitrary: fc.string({ unit: 'grapheme', minLength: minimum, maxLength: Math.min(maxLength, minimum + 10) }) },
    { weight: 2, arbitrary: fc.constantFrom(...oddTexts).map((text) => text.slice(0, maximum).padEnd(minimum, '.')) },
    { weight: 1, arbitrary: fc.constantFrom('x', '名').map((letter) => letter.repeat(maximum)) },
  )
}

/** For the names of bot tokens: fast-check cannot generate texts for a pattern that looks behind. */
const names = fc.stringMatching(/^[\w.-][\w .-]{0,30}[\w.-]$/)

/** Mostly different addresses at the mail host that may register. */
const emails = fc.tuple(fc.stringMatching(/^[a-z][a-z0-9]{0,11}$/), fc.nat(9999)).map(([name, n]) => `${name}${n}@gmail.com`)

function numberOf({ minimum = -(2 ** 53), maximum = 2 ** 53, format = '' }: Bounds): fc.Arbitrary<number> {
  const [min, max] = [
    Math.max(Math.ceil(minimum), Number.MIN_SAFE_INTEGER),
    Math.min(Math.floor(maximum), Number.MAX_SAFE_INTEGER),
  ]
  const small = fc.integer({ min: Math.max(min, Math.min(1, max)), max: Math.min(max, 60) })
  const wide = fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max }))
  if (format.includes('int')) return fc.oneof({ weight: 4, arbitrary: small }, { weight: 1, arbitrary: wide })
  const cents = fc.integer({ min: Math.max(min, -1_000_000), max: Math.min(max, 1_000_000) }).map((value) => value / 100)
  const decimals = fc.oneof(cents, fc.constantFrom(0.1, 1e-7, 123_456.789))
  return fc.oneof({ weight: 4, arbitrary: small }, { weight: 1, arbitrary: wide }, { weight: 2, arbitrary: decimals })
}

function isTransform(schema: unknown): boolean {
  return definitionOf(schema).type === 'transform'
}

function withoutUndefined(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined))
}
