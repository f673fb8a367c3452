import { api } from '../../api/client.ts'

/** The text for a wallet, as the service wants it signed. `intent`: the text says this alone. */
export const prepareSignIn =
  (intent?: 'sign_in' | 'link') =>
  async (address: string): Promise<string> => {
    const { message } = await api.POST('/v1/auth/wallet/nonce', { body: { address, ...(intent && { intent }) } })
    if (message === undefined) throw new Error('The service gave no message to sign.')
    return message
  }
