import type { Page } from 'playwright-core'

/** A device with a fingerprint reader, built into this browser (CTAP2, by the browser's own protocol). */
export type VirtualAuthenticator = {
  /** Sets whether later fingerprints match. */
  setVerifies: (verifies: boolean) => Promise<void>
  /** The credentials on it. */
  credentials: () => Promise<{ credentialId: string; isResidentCredential: boolean; signCount: number }[]>
  /** Windows are reused, and the next test adds its own device. */
  remove: () => Promise<void>
}

export const addAuthenticator = async (page: Page): Promise<VirtualAuthenticator> => {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
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
    setVerifies: async (isUserVerified) => {
      await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
    },
    remove: async () => {
      await devtools.send('WebAuthn.disable')
      await devtools.detach()
    },
    credentials: async () => (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
  }
}

/** Adds this device to the account. */
export const addPasskey = async (page: Page, name: string): Promise<void> => {
  await page.goto('/account')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill(name)
  await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Passkey added').waitFor()
}
