/** One-time codes of authenticator apps (RFC 6238): six digits by SHA-1, a new one every 30 seconds, as all apps support them. */
import { Secret, TOTP } from 'otpauth'

const PERIOD_SECONDS = 30
const DIGITS = 6
/** Steps by which the clocks of app and server may differ: 30 seconds each way, which RFC 6238, 5.2 recommends at most. */
const STEPS_OFF = 1
const CODE = new RegExp(`^[0-9]{${DIGITS}}$`)
/** 160 bits, which RFC 4226, 4 recommends. */
const SECRET_BYTES = 20
const ISSUER = 'Arcade Console'

/** Returns a new secret in base 32, 32 characters. */
export function newTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32
}

/** Returns the address that an app reads from a QR code: `otpauth://totp/…`. @param account how the app names the account */
export function totpUri(secret: string, account: string): string {
  return totp(secret, account).toString()
}

/** Returns the step of 30 seconds whose code this is; undefined if the code is of no step within STEPS_OFF. */
export function stepOfCode(secret: string, code: string, at: Date): number | undefined {
  if (!CODE.test(code)) return undefined
  const timestamp = at.getTime()
  const delta = totp(secret).validate({ token: code, timestamp, window: STEPS_OFF })
  return delta === null ? undefined : TOTP.counter({ period: PERIOD_SECONDS, timestamp }) + delta
}

function totp(secret: string, label = ''): TOTP {
  return new TOTP({
    issuer: ISSUER,
    label,
    algorithm: 'SHA1',
    digits: DIGITS,
    period: PERIOD_SECONDS,
    secret: Secret.fromBase32(secret),
  })
}
