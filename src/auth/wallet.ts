import { createRequire } from 'node:module'
import { keccak_256 } from '@noble/hashes/sha3'
import { z } from 'zod'
import {
  type Address,
  checksummed,
  checksumProblem,
  hasWrongChecksum,
  parseWalletName,
  walletNameOf,
} from '../lib/wallet-name.ts'

export type { Address }

export const intents = ['sign_in', 'link'] as const
export type Intent = (typeof intents)[number]

// Replaces viem for key wallets. viem is loaded only for queries to a chain (contract-wallet.ts).

const require = createRequire(import.meta.url)

export type RecoverKey = (signature: Uint8Array, recovery: number, hash: Uint8Array) => Uint8Array

/**
 * libsecp256k1 as native code, much faster than JavaScript (docs/security.md). Loads the binding directly, because the
 * package would fall back to `elliptic`. Undefined if there is no binding: `portableRecovery` then takes its place.
 */
export const nativeRecovery = (): RecoverKey | undefined => {
  try {
    const native: typeof import('secp256k1') = require('secp256k1/bindings.js')
    return (signature, recovery, hash) => native.ecdsaRecover(signature, recovery, hash, false)
  } catch {
    return undefined
  }
}

export const portableRecovery = (): RecoverKey => {
  const { secp256k1 }: typeof import('@noble/curves/secp256k1') = require('@noble/curves/secp256k1')
  return (signature, recovery, hash) =>
    secp256k1.Signature.fromCompact(signature).addRecoveryBit(recovery).recoverPublicKey(hash).toRawBytes(false)
}

let recoverKey: RecoverKey | undefined

const signaturePattern = /^0x[0-9a-fA-F]{130}$/
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

export const parseAddress = (text: string): Address | undefined =>
  /^0x[0-9a-fA-F]{40}$/.test(text) ? checksummed(text.slice(2).toLowerCase()) : undefined

/** EIP-191, version 0x45: the hash that a wallet signs for a text message. */
const hashMessage = (message: string): Uint8Array => {
  const bytes = Buffer.from(message)
  return keccak_256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`), bytes]))
}

const walletIn = <Read extends string>(read: (text: string) => Read | undefined, form: string) =>
  z
    .string()
    .max(100, { abort: true })
    .transform((text, context): Read => {
      // Programs that uppercase an entire address also write its prefix as 0X.
      const wallet = hasWrongChecksum(text) ? undefined : read(text.replace(/0X(?=[0-9A-F]{40}$)/, '0x'))
      if (wallet !== undefined) return wallet
      context.addIssue({ code: 'custom', message: hasWrongChecksum(text) ? checksumProblem : `must be ${form}` })
      return z.NEVER
    })

export const WalletAddress = walletIn(parseAddress, 'a 0x-prefixed address of 20 bytes')

/** A wallet in a request, with its checksum: a CAIP-10 name (a contract on that chain) or a bare address (a key wallet). */
export const NamedWallet = walletIn((text) => {
  const name = parseWalletName(text)
  const address = name && parseAddress(name.address)
  return address && walletNameOf(address, name.chainId)
}, 'a 0x-prefixed address of 20 bytes, or eip155:<chain>:<address>')

/** A signature as wallets and people paste it: without `0x`, with `0X`, or with spaces or a newline around it. */
export const WalletSignature = z
  .string()
  .max(20_000, { abort: true, error: 'must have at most 20000 characters' })
  .min(1)
  .overwrite((text) => {
    const digits = text.trim().replace(/^0x/i, '')
    return /^[0-9a-f]+$/i.test(digits) ? `0x${digits.toLowerCase()}` : text
  })

/** Explains signature forms of some libraries that this service rejects for key wallets. Null for any other form. */
const formHint = (signature: string): string | null => {
  if (/^0x[0-9a-f]{128}$/i.test(signature)) return 'It is compact (EIP-2098, 64 bytes): send r, s and v, 65 bytes.'
  if (!signaturePattern.test(signature)) return null
  const v = Number.parseInt(signature.slice(130), 16)
  if (![0, 1, 27, 28].includes(v)) return `Its v is ${v}: a signature of a text (personal_sign) ends in 27 or 28.`
  return BigInt(`0x${signature.slice(66, 130)}`) > halfOrder ? 'Its s is high (EIP-2): send the form with the low s.' : null
}

/** Appends an explanation to a refusal's message if the signature's form is the reason. */
export const withHint = (sentence: string, signature: string): string =>
  [sentence, formHint(signature)].filter((part) => part !== null).join(' ')

/**
 * The address that signed `message` with EIP-191 `personal_sign`. Undefined if the signature is malformed or has a high s
 * (EIP-2). Each signature is accepted in one form only, so a stored signature cannot be replayed in another form.
 */
export const recoverSigner = (message: string, signature: string): Address | undefined => {
  if (!signaturePattern.test(signature)) return undefined
  const bytes = Buffer.from(signature.slice(2), 'hex')
  const v = bytes.readUInt8(64)
  const recovery = v >= 27 ? v - 27 : v
  if (recovery !== 0 && recovery !== 1) return undefined
  if (BigInt(`0x${bytes.toString('hex', 32, 64)}`) > halfOrder) return undefined
  try {
    recoverKey ??= nativeRecovery() ?? portableRecovery()
    const key = recoverKey(bytes.subarray(0, 64), recovery, hashMessage(message))
    return checksummed(Buffer.from(keccak_256(key.subarray(1))).toString('hex', 12))
  } catch {
    return undefined
  }
}
