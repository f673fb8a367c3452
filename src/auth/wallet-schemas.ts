import { z } from 'zod'
import { checksumProblem, hasWrongChecksum, parseAddress, parseWalletName, walletNameOf } from '../lib/wallet-name.ts'

const walletField = <Read extends string>(parse: (text: string) => Read | undefined, expected: string) =>
  z
    .string()
    .max(100, { abort: true })
    .transform((text, context): Read => {
      // Programs that uppercase an entire address also write its prefix as 0X.
      const wallet = hasWrongChecksum(text) ? undefined : parse(text.replace(/0X(?=[0-9A-F]{40}$)/, '0x'))
      if (wallet !== undefined) return wallet
      context.addIssue({ code: 'custom', message: hasWrongChecksum(text) ? checksumProblem : `must be ${expected}` })
      return z.NEVER
    })

export const WalletAddress = walletField(parseAddress, 'a 0x-prefixed address of 20 bytes')

/** A wallet in a request, with its checksum: a CAIP-10 name (a contract on that chain) or a bare address (a key wallet). */
export const NamedWallet = walletField((text) => {
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
