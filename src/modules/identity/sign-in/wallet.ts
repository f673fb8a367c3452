import { SiweMessage } from 'siwe'
import type { z } from 'zod'
import { type Address, type Intent, parseAddress, recoverSigner, withHint } from '../../../auth/wallet.ts'
import type { Config } from '../../../config.ts'
import type { Db } from '../../../db/client.ts'
import { isoTime, secondsAfter } from '../../../lib/clock.ts'
import { invalidFields, Refusal } from '../../../lib/errors.ts'
import { isLoopbackUrl } from '../../../lib/loopback.ts'
import { checksumProblem, hasWrongChecksum } from '../../../lib/wallet-name.ts'
import type { Parts } from '../../parts.ts'
import { newMethodRefusal } from '../identities/link.ts'
import { findIdentity, type IdentityProof, walletProof } from '../identities/queries.ts'
import type { CreateNonce, Nonce, SignedMessage } from '../schema.ts'
import type { Initiator } from '../sessions/service.ts'
import { consumeSignInNonce, newSignInNonce, nonceTtlSeconds, readSignInNonce, type SignInNonce } from './nonces.ts'

const costs = 'This costs nothing and moves no money.'
/** The text that a person signs. Without an intent, the text names both intents, and the session decides which one applies. */
const statements = {
  sign_in: `Sign in to the payments service. ${costs}`,
  link: `Add this wallet to the account that you are signed in to. ${costs}`,
  either: `Sign in, or add this wallet to the account that you are signed in to. ${costs}`,
} as const

export const statementOf = (intent: Intent | undefined): string => statements[intent ?? 'either']

/** Refuses a text for the other intent, so that a sign-in never adds a wallet to an account. */
const statementFits = (intent: Intent | undefined, statement: string | undefined): boolean =>
  statement === statementOf(intent) || statement === statements.either

/** Values that a message must have. They are shown before signing, and again if the message was wrong. */
export const expectedOf = (config: Config) => ({
  domain: new URL(config.publicUrl).host,
  uri: config.publicUrl,
  chain_ids: config.SIWE_CHAIN_IDS,
})

const loopbackName = /^(?:localhost|127\.0\.0\.1|\[::1\]|(?:[a-z0-9-]+\.)+localhost)$/i

/**
 * Compares text, because a parser would drop a user part (`evil.example@our.host`), which is all that a person sees. In
 * development, any loopback name with our port is accepted.
 */
const isOurHost = (config: Config, host: string): boolean => {
  const ours = new URL(config.publicUrl)
  if (host === ours.host) return true
  if (config.NODE_ENV === 'production' || !isLoopbackUrl(config.publicUrl)) return false
  const suffix = ours.port === '' ? '' : `:${ours.port}`
  return host.endsWith(suffix) && loopbackName.test(host.slice(0, host.length - suffix.length))
}

/** Accepts the site but none of its pages, because a signature for a page may have another meaning there. */
const isOurUri = (config: Config, uri: string): boolean => {
  const begin = `${new URL(config.publicUrl).protocol}//`
  return uri.startsWith(begin) && isOurHost(config, uri.slice(begin.length).replace(/\/$/, ''))
}

const mismatch = (config: Config, what: string, actual: unknown, expected: Record<string, string> = {}): Refusal =>
  new Refusal('invalid_signature', {
    message: `The message's ${what} is not what this service expects.`,
    details: { field: what, actual, expected: { ...expectedOf(config), statement: statementOf(undefined), ...expected } },
  })

export type SignInMessage = Pick<
  SiweMessage,
  'scheme' | 'domain' | 'address' | 'statement' | 'uri' | 'chainId' | 'nonce' | 'issuedAt' | 'expirationTime' | 'notBefore'
>

type Fields = { statement: string; address: string; chainId: number; nonce: string; issuedAt: string; expirationTime: string }

export const prepareSignInMessage = (
  config: Config,
  { statement, address, chainId, nonce, issuedAt, expirationTime }: Fields,
): string => {
  const { domain, uri } = expectedOf(config)
  return [
    `${domain} wants you to sign in with your Ethereum account:`,
    address,
    '',
    statement,
    '',
    `URI: ${uri}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
    `Expiration Time: ${expirationTime}`,
  ].join('\n')
}

const isExactTime = (text: string): boolean => {
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && time.toISOString() === text
}

const afterLabel = (line: string): string => line.slice(line.indexOf(': ') + 2)

/**
 * Reads a message that is exactly as this service issued it, as nearly all are. The `siwe` parser would take 0.8 ms, four times
 * as long as recovering the signer.
 */
const readPrepared = (config: Config, text: string): SignInMessage | undefined => {
  const [, address = '', , statement = '', , , , chain = '', nonce = '', issued = '', expires = ''] = text.split('\n', 11)
  const fields = {
    statement,
    address,
    chainId: Number(afterLabel(chain)),
    nonce: afterLabel(nonce),
    issuedAt: afterLabel(issued),
    expirationTime: afterLabel(expires),
  }
  const isOurs =
    Object.values<string>(statements).includes(statement) &&
    parseAddress(address) === address &&
    /^[0-9a-f]{8,}$/.test(fields.nonce) &&
    /^[1-9]\d{0,9}$/.test(afterLabel(chain))
  if (!isOurs || ![fields.issuedAt, fields.expirationTime].every(isExactTime)) return undefined
  if (prepareSignInMessage(config, fields) !== text) return undefined
  const { domain, uri } = expectedOf(config)
  return { ...fields, domain, uri }
}

/** Names the line that a wallet or library changed. */
const problemOf = (text: string): string | undefined => {
  if (text.includes('\r')) return 'has carriage returns at its line ends: sign it with line feeds alone, as it was given'
  if (text.endsWith('\n')) return 'ends with a line end after its last line: sign it as it was given'
  const lines = text.split('\n', 20)
  const [, address = ''] = lines
  if (hasWrongChecksum(address)) return `line 2: the address ${checksumProblem}`
  const chain = lines.findIndex((line) => /^Chain ID: (?!\d+$)/.test(line))
  return chain < 0
    ? undefined
    : `line ${chain + 1}: "${lines[chain]?.slice(0, 40)}" must name the chain by a decimal number, such as "Chain ID: 1"`
}

export const readSignInMessage = (config: Config, text: string): SignInMessage => {
  const prepared = readPrepared(config, text)
  if (prepared) return prepared
  try {
    return new SiweMessage(text)
  } catch {
    const problem =
      problemOf(text) ?? 'must be a Sign-In with Ethereum message (EIP-4361), such as POST /v1/auth/wallet/nonce gives'
    throw invalidFields({ path: 'message', message: problem })
  }
}

/** Maximum time by which a wallet's clock may be ahead of ours. */
const aheadSeconds = 300

const latestIssue = (now: Date): Date => secondsAfter(now, aheadSeconds)
const earliestIssue = (now: Date): Date => secondsAfter(now, -nonceTtlSeconds - aheadSeconds)

const isRecent = (issued: Date | undefined, now: Date): boolean =>
  issued !== undefined && issued <= latestIssue(now) && issued >= earliestIssue(now)

const timeOf = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text))

/** Returns the refusal of a message, or null. The nonce and the signature are checked elsewhere. */
export const checkSignInMessage = (
  config: Config,
  message: SignInMessage,
  { now, intent }: { now: Date; intent: Intent | undefined },
): Refusal | null => {
  const expires = timeOf(message.expirationTime)
  const begins = timeOf(message.notBefore)
  const statement = statementOf(intent)
  const scheme = new URL(config.publicUrl).protocol.slice(0, -1)
  if ((message.scheme ?? scheme) !== scheme || !isOurHost(config, message.domain))
    return mismatch(config, 'domain', message.domain)
  if (!isOurUri(config, message.uri)) return mismatch(config, 'uri', message.uri)
  if (!statementFits(intent, message.statement)) return mismatch(config, 'statement', message.statement ?? null, { statement })
  if (!isRecent(timeOf(message.issuedAt), now))
    return mismatch(config, 'issued_at', message.issuedAt ?? null, {
      issued_at: `between ${isoTime(earliestIssue(now))} and ${isoTime(latestIssue(now))}`,
    })
  if (!config.SIWE_CHAIN_IDS.includes(message.chainId)) return mismatch(config, 'chain_id', message.chainId)
  if (expires && expires <= now)
    return mismatch(config, 'expiration_time', message.expirationTime, { expiration_time: `after ${isoTime(now)}` })
  if (begins && begins > now)
    return mismatch(config, 'not_before', message.notBefore, { not_before: `not after ${isoTime(now)}` })
  return null
}

export const createWalletNonce = (
  deps: Pick<Parts, 'clock' | 'config' | 'derivations'>,
  request: z.output<typeof CreateNonce>,
): z.output<typeof Nonce> => {
  const expected = expectedOf(deps.config)
  const { chain_ids } = expected
  if (request.chain_id !== undefined && !chain_ids.includes(request.chain_id)) {
    throw invalidFields({ path: 'chain_id', message: `must be one of ${chain_ids.join(', ')}` })
  }
  const { nonce, issuedAt, expiresAt } = newSignInNonce(deps.derivations, deps.clock.now())
  const statement = statementOf(request.intent)
  const message =
    request.address &&
    prepareSignInMessage(deps.config, {
      statement,
      address: request.address,
      chainId: request.chain_id ?? chain_ids[0] ?? 1,
      nonce,
      issuedAt: issuedAt.toISOString(),
      expirationTime: expiresAt.toISOString(),
    })
  const times = { issued_at: isoTime(issuedAt), expires_at: isoTime(expiresAt) }
  return { nonce, ...expected, statement, ...times, ...(message && { message }) }
}

const badNonce = (config: Config): Refusal =>
  new Refusal('invalid_signature', {
    message: 'The nonce is unknown, used or expired: ask for a new one.',
    details: {
      field: 'nonce',
      expected: { ...expectedOf(config), nonce: 'one from POST /v1/auth/wallet/nonce, used once within ten minutes' },
    },
  })

/** `nonce`: still to be used up. Null if it is already used up or unknown. */
export type WalletAttempt = { verdict: IdentityProof | Refusal; nonce: SignInNonce | null }

/** Uses up the nonce, even if the attempt proves nothing. An attempt with a used nonce is refused. */
export const spendNonce = async (db: Db, config: Config, { nonce, verdict }: WalletAttempt): Promise<WalletAttempt['verdict']> =>
  nonce === null || (await consumeSignInNonce(db, nonce)) ? verdict : badNonce(config)

type Signed = { recovered: Address | undefined; claimed: string; signature: string }

/** `whyUncertain`: why the signature may still be a contract's. */
const wrongSigner = ({ recovered, claimed, signature }: Signed, whyUncertain?: string): Refusal => {
  const why =
    whyUncertain === undefined
      ? 'The signature is not by the address in the message.'
      : `The signature is not by the key of the address in the message. ${whyUncertain}`
  return new Refusal('invalid_signature', {
    message: withHint(why, signature),
    details: { field: 'signature', recovered_address: recovered ?? null, expected: { address: claimed } },
  })
}

type WalletDeps = Pick<Parts, 'clock' | 'config' | 'contractWallets' | 'db' | 'derivations'>

/** `contract`: the contract whose chain must verify the signature. Until then, the verdict is a refusal. */
type ReadAttempt = WalletAttempt & { contract?: { chainId: number; address: Address } }

/** Throws 400 for text that is not a sign-in message. */
const readAttempt = (deps: WalletDeps, input: z.output<typeof SignedMessage>): ReadAttempt => {
  const siwe = readSignInMessage(deps.config, input.message)
  const now = deps.clock.now()
  const nonce = readSignInNonce(deps.derivations, siwe.nonce, now)
  if (!nonce) return { verdict: badNonce(deps.config), nonce: null }
  const wrong = checkSignInMessage(deps.config, siwe, { now, intent: input.intent })
  if (wrong) return { verdict: wrong, nonce }
  const recovered = recoverSigner(input.message, input.signature)
  if (recovered?.toLowerCase() === siwe.address.toLowerCase()) return { verdict: walletProof(recovered, null), nonce }
  const { chainId } = siwe
  const address = parseAddress(siwe.address)
  const signed = { recovered, claimed: siwe.address, signature: input.signature }
  if (!address) return { verdict: wrongSigner(signed), nonce }
  if (deps.contractWallets.chainIds.includes(chainId))
    return { verdict: wrongSigner(signed), nonce, contract: { chainId, address } }
  const whyUncertain = `Signatures of contracts on chain ${chainId} are not checked here.`
  return { verdict: wrongSigner(signed, whyUncertain), nonce }
}

/** Runs outside any transaction. The nonce is used up first, so that one message causes one query. */
const askChain = async (
  deps: WalletDeps,
  { message, signature }: z.output<typeof SignedMessage>,
  attempt: ReadAttempt,
): Promise<WalletAttempt> => {
  const { contract, verdict: refused } = attempt
  if (!contract) return attempt
  const verdict = await spendNonce(deps.db, deps.config, attempt)
  if (verdict !== refused) return { verdict, nonce: null }
  const answer = await deps.contractWallets.query({ ...contract, message, signature })
  if (answer === 'valid') return { verdict: walletProof(contract.address, contract.chainId), nonce: null }
  if (answer === 'invalid') return { verdict, nonce: null }
  const whyUncertain = `Chain ${contract.chainId} did not answer whether it is by a contract there.`
  return {
    verdict: wrongSigner({ recovered: recoverSigner(message, signature), claimed: contract.address, signature }, whyUncertain),
    nonce: null,
  }
}

export const examineWallet = async (deps: WalletDeps, input: z.output<typeof SignedMessage>): Promise<WalletAttempt> =>
  askChain(deps, input, readAttempt(deps, input))

/**
 * Refuses an unproven session before it uses up the nonce, so that the same message is accepted after the proof. A contract that
 * is not a wallet of the account gets the same answer, because its owner is not proven yet.
 */
export const examineForLink = async (deps: WalletDeps, initiator: Initiator, input: z.output<typeof SignedMessage>) => {
  const attempt = readAttempt(deps, input)
  const { contract, verdict } = attempt
  const claim = contract ? walletProof(contract.address, contract.chainId) : verdict
  if (!(claim instanceof Refusal)) {
    const known = await findIdentity(deps.db, claim)
    const isNew = contract ? known?.accountId !== initiator.accountId : known === undefined
    const unproven = isNew ? newMethodRefusal(initiator, deps.clock.now()) : null
    if (unproven) return unproven
  }
  return spendNonce(deps.db, deps.config, await askChain(deps, input, attempt))
}
