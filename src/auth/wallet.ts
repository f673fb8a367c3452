import secp256k1 from 'secp256k1'
import { type Address, getAddress, hashMessage, hexToBytes, isAddress, keccak256, toHex } from 'viem'
import { z } from 'zod'

/** An EIP-55 checksummed address: what is stored and shown. Uniqueness is on the lower-cased one. */
export type { Address }

const signaturePattern = /^0x[0-9a-fA-F]{130}$/
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

export const parseAddress = (text: string): Address | undefined =>
  isAddress(text, { strict: false }) ? getAddress(text) : undefined

/** A wallet address in a request: any letter case, read as its checksummed form. */
export const WalletAddress = z.string().transform((text, context): Address => {
  const address = parseAddress(text)
  if (address) return address
  context.addIssue({ code: 'custom', message: 'must be a 0x-prefixed address of 20 bytes' })
  return z.NEVER
})

/**
 * The address that signed `message` by EIP-191 `personal_sign`, or undefined when the signature is malformed or has a high s
 * (EIP-2: each signature has one accepted form, so a stored one can't be presented again in another).
 */
export const recoverSigner = (message: string, signature: string): Address | undefined => {
  if (!signaturePattern.test(signature)) return undefined
  const bytes = hexToBytes(signature as `0x${string}`)
  const recovery = (bytes[64] ?? 255) >= 27 ? (bytes[64] ?? 255) - 27 : (bytes[64] ?? 255)
  if (recovery !== 0 && recovery !== 1) return undefined
  if (BigInt(toHex(bytes.subarray(32, 64))) > halfOrder) return undefined
  try {
    const key = secp256k1.ecdsaRecover(bytes.subarray(0, 64), recovery, hexToBytes(hashMessage(message)), false)
    return getAddress(`0x${keccak256(key.subarray(1)).slice(-40)}`)
  } catch {
    return undefined
  }
}
