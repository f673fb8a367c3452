import type { Schemas } from '../api/types.ts'
import { multipleOf } from './money.ts'

type Approval = Schemas['Approval']
export type Caution = NonNullable<Approval['context']>['warnings'][number]

/** What an approver should look at before anything else. A decided approval has none. */
export const cautionsOf = ({ status, context }: Pick<Approval, 'status' | 'context'>): readonly Caution[] =>
  status === 'pending' ? (context?.warnings ?? []) : []

/** Two words of each, for a row. A caution without words does not compile. */
export const cautionWords = (caution: Caution, amountMinor: string): string => {
  switch (caution.code) {
    case 'possible_duplicate':
      return 'Possible duplicate'
    case 'name_differs':
      return 'Another name in the list'
    case 'new_payee':
      return 'Unconfirmed beneficiary'
    case 'changed_payee':
      return 'Name was changed'
    case 'similar_name':
      return 'Name looks like another'
    case 'name_mismatch':
      return isAnotherName(caution) ? 'Another name' : 'Name not confirmed'
    case 'may_have_been_sent':
      return 'May have been paid'
    case 'first_payment':
      return 'First payment'
    case 'unusual_amount':
      return `${multipleOf(amountMinor, caution.typical_amount_minor)} × the usual`
  }
}

/** The warning that says the same as `isOtherName`: shown once. */
export const isAnotherName = (caution: Caution): boolean =>
  caution.code === 'name_mismatch' && caution.verification === 'no_match'

const opened = new Set<string>()

/** A person has the approval's page before them. */
export const noteOpened = (id: string): void => void opened.add(id)

/** The rail reports another name for the destination. */
export const isOtherName = ({ status, context }: Pick<Approval, 'status' | 'context'>): boolean =>
  status === 'pending' && context?.payee?.verification.status === 'no_match'

/** It needs a closer look: it has a caution, or is a batch, whose payments a row does not show. */
export const needsOpening = (approval: Pick<Approval, 'status' | 'context' | 'batch'>): boolean =>
  approval.batch !== null || cautionsOf(approval).length > 0 || isOtherName(approval)

/** Whether it can be approved together with others: what needs a closer look must be opened first, and what is to be signed is signed by itself. */
export const fitsBulk = (approval: Approval): boolean =>
  approval.approval_proof === 'any' && (!needsOpening(approval) || opened.has(approval.id))
