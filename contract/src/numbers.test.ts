/** Numbers that a double keeps, in every notation (design §5). */
import { expect, test } from 'vitest'
import { isExactNumber } from './numbers.ts'

test.each(['0', '-0.50', '1.5e3', '1E-99', '-12e+7', '123456789012e99', '0e5', '4503599627370497', '1e300', '0.1000e1'])(
  '%s is kept',
  (text) => {
    expect(isExactNumber(text)).toBe(true)
  },
)

test.each(['9007199254740993', '0.12345678901234567', '1e999', '9007199254740993e0', '1.', 'e5', '1e', '1e+', '--1', ''])(
  '%j is not kept, or no number',
  (text) => {
    expect(isExactNumber(text)).toBe(false)
  },
)
