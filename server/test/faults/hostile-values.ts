/** Input that a schema refuses: hostile values, changes to a valid body, and bodies that are not JSON objects. */
import fc from 'fast-check'

/** Marks a text whose rest is written into JSON as a bare number, for numbers that a double cannot hold. */
const RAW_NUMBER = 'digits:'

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom<unknown>(
      '\0',
      'a\0b',
      '\ud800',
      'x\udfffy',
      '\u202e\u2028\ufeff',
      '',
      ' ',
      '\u00a0\t\n',
      'x'.repeat(5000),
      '名'.repeat(5000),
      '%',
      '_%\\',
      '=cmd|/c calc!A1',
      "' or 1=1 --",
      '<script>alert(1)</script>',
      'javascript:alert(1)',
      '../../../etc/passwd',
      'announcements/0000000000000_../../x',
      '2024-02-30T00:00:00Z',
      '-271821-04-20T00:00:00.000Z',
      '+275760-09-13T00:00:00.000Z',
      '99999-01-01T00:00:00Z',
      '0001-01-01T00:00:00-23:59',
      'Infinity',
      'NaN',
      '1e999',
      '0x10',
      '1_000',
      '٣',
      true,
      false,
      null,
      [],
      {},
      [[]],
      [null],
      { $gt: '' },
      0,
      -0,
      -1,
      0.1,
      1.5,
      1e308,
      -1e308,
      5e-324,
      2 ** 31,
      2 ** 53,
      2 ** 63,
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('9007199254740993', '9007199254740992.5', '1e400', '-1e400', '0.1000000000000000055', `1${'0'.repeat(400)}`)
      .map((digits) => RAW_NUMBER + digits),
  },
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 10 }).map((codes) => String.fromCharCode(...codes)),
  fc.jsonValue({ maxDepth: 4 }),
)

const hostileKeys = fc.constantFrom(
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'userType',
  'user_type',
  'id',
  'version',
  'success',
  'status',
  '',
  '\0',
  '\ud800',
  'a.b',
  '$where',
  'x'.repeat(1000),
)

/** One change to a valid value. It applies to the `at`-th part, counted in the order in which JSON writes them. */
export interface Change {
  at: number
  kind: 'replace' | 'drop' | 'add' | 'wrap' | 'text' | 'lengthen'
  key: string
  value: unknown
}

export const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(40),
  kind: fc.constantFrom('replace', 'replace', 'replace', 'drop', 'add', 'wrap', 'text', 'lengthen'),
  key: hostileKeys,
  value: hostileValue,
})

/** Returns a changed copy of the value. */
export function changed(value: unknown, { at, kind, key, value: other }: Change): unknown {
  const copy = { root: structuredClone(value) } as Record<string, unknown>
  const places: [Record<string, unknown>, string][] = []
  const walk = (holder: Record<string, unknown>, name: string): void => {
    places.push([holder, name])
    const part = holder[name]
    if (isObject(part)) for (const inner of Object.keys(part)) walk(part, inner)
  }
  walk(copy, 'root')
  const [holder, name] = places[at % places.length]!
  const part = holder[name]
  if (kind === 'drop') delete holder[name]
  else if (kind === 'wrap') holder[name] = at % 2 === 0 ? [part] : { value: part }
  else if (kind === 'text') holder[name] = typeof part === 'string' ? Number(part) : JSON.stringify(part)
  else if (kind === 'lengthen') holder[name] = typeof part === 'string' ? part + '.'.repeat(5000) : other
  else if (kind === 'add' && isObject(part)) part[key] = other
  else holder[name] = other
  return copy['root']
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Returns the value as JSON, with marked numbers written out. */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value) ?? ''
  return json.replaceAll(new RegExp(`"${RAW_NUMBER}([-+.\\deE]+)"`, 'g'), '$1')
}

/** Returns the value as text for a query string or a path. */
export function toText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.startsWith(RAW_NUMBER) ? text.slice(RAW_NUMBER.length) : text
}

const deep = (open: string, close: string) => (depth: number) => open.repeat(depth) + close.repeat(depth)

/** Bodies that are not JSON objects, or are hard to parse. */
export const hostileBody: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '{',
    '[]',
    'null',
    'true',
    '1',
    '"text"',
    'NaN',
    '{"a":1,}',
    "{'a':1}",
    '\ufeff{}',
    '{"__proto__":{"userType":"admin"}}',
    '{"a":{"__proto__":null}}',
    '{"constructor":{"prototype":{"x":1}}}',
    '{"id":"1","id":"2"}',
    '{"data":{"users":{"length":1e9}}}',
    '{}{}',
  ),
  fc.constantFrom(15, 16, 17, 18, 200, 3000).map(deep('[', ']')),
  fc.constantFrom(15, 16, 17, 18, 200, 3000).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
  fc
    .constantFrom(100, 3000)
    .map((count) => JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n])))),
  fc.constantFrom(64 * 1024, 64 * 1024 + 1, 200_000).map((length) => `{"title":"${'x'.repeat(length - 12)}"}`),
  fc.uint8Array({ maxLength: 60 }),
  fc
    .uint8Array({ minLength: 1, maxLength: 8 })
    .map((bytes) => Buffer.concat([Buffer.from('{"title":"'), bytes, Buffer.from('"}')])),
)
