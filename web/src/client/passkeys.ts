/** Passkeys in the browser (WebAuthn). The library that talks to authenticators is loaded when it is used. */
import type {
  AssertionResponse,
  PasskeyCreationOptions,
  PasskeyRequestOptions,
  RegistrationResponse,
} from '@arcade/contract/passkeys/calls'
import { asCallError, CallError } from './call-error.ts'

/** Whether the browser can make and use passkeys on this page. Their site must be a host name, not an IP address (WebAuthn, 5.1.3). */
export function hasPasskeys(): boolean {
  return 'PublicKeyCredential' in window && !/^[\d.]+$|^\[/.test(location.hostname)
}

/** Lets the person make a passkey. @throws CallError, also if the person cancels or does nothing for a while */
export async function makePasskey({ options }: { options: PasskeyCreationOptions }): Promise<RegistrationResponse> {
  const { startRegistration } = await import('@simplewebauthn/browser')
  const optionsJSON = options as Parameters<typeof startRegistration>[0]['optionsJSON']
  return startRegistration({ optionsJSON }).catch(refuse)
}

/**
 * Lets the person prove by a passkey to be there.
 * @param ask gets the options from the server
 * @param send sends the browser's response to the server
 * @throws CallError, also if the person cancels or does nothing for a while
 */
export async function byPasskey<T>(
  ask: () => Promise<{ options: PasskeyRequestOptions }>,
  send: (input: { response: AssertionResponse }) => Promise<T>,
): Promise<T> {
  const { options } = await ask()
  const { startAuthentication } = await import('@simplewebauthn/browser')
  const optionsJSON = options as Parameters<typeof startAuthentication>[0]['optionsJSON']
  return send({ response: await startAuthentication({ optionsJSON }).catch(refuse) })
}

// Browsers say the same for a closed dialog, for one that took too long and for a device without a passkey of this site.
const NOT_USED = 'No passkey was used: the browser has none here, or its dialog was closed or took too long.'

/** Words for the errors of the standard by which a person can tell what to do. */
const errorTexts: Readonly<Record<string, string>> = {
  NotAllowedError: NOT_USED,
  AbortError: NOT_USED,
  InvalidStateError: 'This device has a passkey for you already.',
  SecurityError: 'The browser does not take passkeys at this address.',
  NotSupportedError: 'This browser or device cannot make such a passkey.',
  ConstraintError: 'This device does not check who uses it. Set up a PIN, finger or face first.',
}

function refuse(cause: unknown): never {
  const message = cause instanceof Error ? errorTexts[cause.name] : undefined
  throw message === undefined ? asCallError(cause) : new CallError({ code: 'PASSKEY_REFUSED', status: 400, message }, { cause })
}
