import { otherAmountIn } from './amount.ts'
import { type CardPayee, payeeAddress, payeeText, readNamesakes } from './payee.ts'
import type { Caller } from './tool.ts'

/** An order as a tool understood it. */
export type Order = { amount_minor: string; beneficiary_id: string; narrative?: string | undefined }

export type Doubt = { code: 'amount_differs' | 'payees_alike'; path: string; message: string; address?: string }

/** What a model gets wrong and no rule forbids: shillings for cents, and one of two payees of the same name. A person says what is meant. */
export const doubtOf = async (caller: Caller, order: Order, payee: CardPayee | undefined): Promise<Doubt | undefined> => {
  const other = otherAmountIn(order.narrative, order.amount_minor, caller.currency)
  if (other?.isSlip) {
    const message = `${other.sentence}, a hundred times more or less. Ask the person which one is meant, then correct the other.`
    return { code: 'amount_differs', path: 'amount', message }
  }
  const [namesake] = payee ? await readNamesakes(caller, order.beneficiary_id, payee) : []
  if (!namesake) return undefined
  const message = `There is another payee of this name, ${payeeText(namesake)}. Ask the person to give one of them another name, at address.`
  return { code: 'payees_alike', path: 'beneficiary_id', message, address: payeeAddress(caller, order.beneficiary_id) }
}
