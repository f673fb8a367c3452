import { api, call } from '../../api/client.ts'
import { Confirm } from '../../ui/confirm.tsx'
import type { Difference } from './open-items.ts'

export type OfferedOutcome = NonNullable<Difference['offered_outcome']>

export const outcomeWords: Readonly<
  Record<OfferedOutcome, { button: string; title: string; effect: string; effectByHand: string; done: string }>
> = {
  succeeded: {
    button: 'Record as succeeded',
    title: 'Record this payment as succeeded?',
    effect: 'The payment ends as succeeded, with the receipt of the statement.',
    effectByHand: 'It ends as succeeded, and what was held is spent.',
    done: 'Payment recorded as succeeded',
  },
  failed: {
    button: 'Record as failed',
    title: 'Record this payment as failed?',
    effect: 'The payment ends as failed, and its money returns to the account that paid.',
    effectByHand: 'It ends as failed, and its money returns to the account that paid.',
    done: 'Payment recorded as failed',
  },
}

export const acceptLabel = (outcome: OfferedOutcome): string => outcomeWords[outcome].button

type Props = { difference: Difference; outcome: OfferedOutcome; onClose: () => void }

/** Ends a payment as the statement shows it. Still open afterwards: a second administrator has to agree. */
export const AcceptOutcome = ({ difference, outcome, onClose }: Props) => (
  <Confirm
    title={outcomeWords[outcome].title}
    action={outcomeWords[outcome].button}
    harmless={outcome === 'succeeded'}
    change={() =>
      call(
        api.POST('/v1/admin/reconciliation-differences/{id}/resolve', {
          params: { path: { id: difference.id } },
          body: { note: difference.reason, accept: true },
        }),
      )
    }
    announcement={({ resolved_at: at }) =>
      at === null ? 'Requested: another administrator must do the same' : outcomeWords[outcome].done
    }
    outdates={['suspense', 'differences', 'trial balance', 'payments', 'payment']}
    onClose={onClose}
  >
    <p>{difference.reason}</p>
    <p>{outcomeWords[outcome].effect}</p>
  </Confirm>
)
