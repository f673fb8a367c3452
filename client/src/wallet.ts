import { Payments, type PaymentsOptions } from './client.ts'
import type { Body, Schemas } from './route-types.ts'
import { answerOf } from './transport.ts'

/** A signer: a viem account (`privateKeyToAccount(…)`) or an object with the same methods. */
export type Wallet = { address: `0x${string}`; signMessage: (input: { message: string }) => Promise<string> }

type Public = Pick<PaymentsOptions, 'baseUrl' | 'fetch'>
export type SignedIn = { client: Payments; outcome: string; account: Schemas['Account']; session: string | undefined }

const sessionIn = (response: Response): string | undefined =>
  response.headers
    .getSetCookie()
    .find((line) => line.startsWith('service_session='))
    ?.split(';')[0]
    ?.slice('service_session='.length)

/**
 * Signs in with a wallet (Sign-In with Ethereum). An unknown wallet gets a new account. The returned client has the session: a
 * cookie in browsers, a header elsewhere.
 */
export const signInWithWallet = async (options: Public, wallet: Wallet): Promise<SignedIn> => {
  const open = new Payments(options)
  const { message } = await open.call('post', '/v1/auth/wallet/nonce', {
    body: { address: wallet.address, intent: 'sign_in' },
  })
  if (message === undefined) throw new Error('The service returned no message to sign.')
  const signature = await wallet.signMessage({ message })
  // Sent only once, because each attempt uses up the nonce.
  const response = await (options.fetch ?? fetch)(`${options.baseUrl.replace(/\/$/, '')}/v1/auth/wallet/verify`, {
    method: 'POST',
    credentials: 'include',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message, signature, intent: 'sign_in' }),
  })
  const { outcome, account } = await answerOf<{ outcome: string; account: Schemas['Account'] }>(response)
  const session = sessionIn(response)
  const carried =
    session === undefined ? { credentials: 'include' as const } : { headers: { cookie: `service_session=${session}` } }
  return { client: new Payments({ ...options, ...carried }), outcome, account, session }
}

export type DecideOptions = {
  decision?: 'approve' | 'reject'
  /** Called with the text to sign. The wallet signs only if this returns true. */
  confirm?: (message: string) => boolean | Promise<boolean>
}

const signIf = async (confirm: NonNullable<DecideOptions['confirm']>, wallet: Wallet, message: string) => {
  if (!(await confirm(message))) throw new Error('Nothing was signed.')
  return wallet.signMessage({ message })
}

/** Decides an approval by signing the service's own text. Needs no other credential. */
export const decideByWallet = async (
  options: Public,
  wallet: Wallet,
  approvalId: string,
  { decision = 'approve', confirm = () => true }: DecideOptions = {},
): Promise<Schemas['Approval']> => {
  const { approvals } = new Payments(options)
  const { message } = await approvals.message(approvalId, decision)
  if (!message.includes(approvalId)) throw new Error('The message is not about this approval: nothing was signed.')
  if (!message.includes(`\nDecision: ${decision}\n`))
    throw new Error('The message is about another decision: nothing was signed.')
  const signature = await signIf(confirm, wallet, message)
  return approvals.decideBySignature(approvalId, { decision, signature, address: wallet.address })
}

type Terms = Body<'/v1/intent-mandates', 'post'>['terms']

/** Signs an intent mandate, which permits payments without further approval. Show its text to a person in `confirm`. */
export const signMandate = async (
  options: Public,
  wallet: Wallet,
  terms: Terms,
  { confirm = () => true }: Pick<DecideOptions, 'confirm'> = {},
): Promise<Schemas['IntentMandate']> => {
  const { mandates } = new Payments(options)
  const { message, nonce } = await mandates.prepare({ address: wallet.address, terms })
  return mandates.create({ address: wallet.address, terms, nonce, signature: await signIf(confirm, wallet, message) })
}
