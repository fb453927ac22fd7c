/** Chromium's virtual authenticator (CDP, WebAuthn domain): a device that makes passkeys and always finds that its user is there. */
import type { Page } from '@playwright/test'

export interface VirtualAuthenticator {
  /** Whether it finds that the user is the right one, by finger, face or PIN. */
  setUserVerified(isVerified: boolean): Promise<void>
  /** Forgets all passkeys, as a device that was reset. */
  clear(): Promise<void>
}

export async function addAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return {
    setUserVerified: async (isUserVerified) =>
      void (await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })),
    clear: async () => void (await session.send('WebAuthn.clearCredentials', { authenticatorId })),
  }
}
