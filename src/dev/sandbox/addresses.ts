import { z } from 'zod'
import { type DepositRail, depositRails } from '../../lib/rail-names.ts'
import { readDocument, writeDocument } from './store.ts'

const Stored = z.partialRecord(
  z.enum(depositRails),
  z.object({ confirmation: z.string(), validation: z.string().nullable(), unanswered: z.enum(['Completed', 'Cancelled']) }),
)
type Addresses = z.output<typeof Stored>
export type Address = NonNullable<Addresses[DepositRail]>

const fileName = 'addresses.json'

/** Where clients want to be told of deposits. With a folder they outlive the process. */
export const createAddresses = (folder?: string) => {
  let held: Addresses = {}
  const read = (): Addresses => {
    const stored = folder === undefined ? undefined : readDocument(folder, fileName)
    return stored === undefined ? held : Stored.parse(JSON.parse(stored))
  }
  return {
    of: (rail: DepositRail): Address | undefined => read()[rail],
    register: (rail: DepositRail, address: Address): void => {
      held = { ...read(), [rail]: address }
      if (folder !== undefined) writeDocument(folder, fileName, JSON.stringify(held))
    },
  }
}

export type AddressBook = ReturnType<typeof createAddresses>
