import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useBeneficiaryNames, usePeople } from '../../api/names.ts'
import { api, type Body, type Schemas } from '../../api/queries.ts'
import { policySentence } from '../../lib/rule-words.ts'
import { fullTime } from '../../lib/time.ts'
import { signWithPasskey } from '../../passkey/passkey.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmButton, Dialog, DialogButton } from '../../ui/form.tsx'
import { Card, Failure } from '../../ui/page.tsx'
import { announce } from '../../ui/toast.tsx'
import { useWalletFlow, WalletPicker } from '../../wallet/wallet.tsx'
import { useOwnPasskeys } from '../approvals/decide-dialog.tsx'
import { SignedText } from '../approvals/sign-decision.tsx'

type Policy = Schemas['SpendingPolicy']
type Waiting = NonNullable<Policy['pending_change']>
type Signed = Body<'/v1/spending-policies/{id}/pending-change/confirm', 'post'>

const outdated = ['policies', 'policy']
const confirm = (id: string, body: Signed) =>
  api.POST('/v1/spending-policies/{id}/pending-change/confirm', { path: { id }, body })
const confirmed = ({ status }: Policy) =>
  status === 'archived' ? 'Confirmed: the policy is archived' : 'Confirmed: the change applies'

/** Where the policy asks for signatures, a wallet or a passkey signs the text that says what changes. */
const SignChange = ({ policy, message, onClose }: { policy: Policy; message: string; onClose: () => void }) => {
  const client = useQueryClient()
  const passkeys = useOwnPasskeys()
  const done = (saved: Policy) => {
    announce(confirmed(saved))
    onClose()
    for (const name of outdated) void client.invalidateQueries({ queryKey: [name] })
  }
  const flow = useWalletFlow({
    prepare: async () => message,
    send: ({ signature, address }) => confirm(policy.id, { signature, address }),
    done,
  })
  const byPasskey = useMutation({
    mutationFn: async () => confirm(policy.id, { passkey: await signWithPasskey(message, passkeys) }),
    onSuccess: done,
  })
  return (
    <Dialog title="Sign the change" onClose={onClose}>
      <SignedText message={message} />
      {passkeys.length > 0 && (
        <Button variant="primary" busy={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
          Sign with a passkey
        </Button>
      )}
      <Failure error={byPasskey.error} />
      <WalletPicker flow={flow} verb="Sign with" />
    </Dialog>
  )
}

const ConfirmChange = ({ policy, message, words }: { policy: Policy; message: string; words: ReactNode }) => {
  const button = { variant: 'primary', children: 'Confirm the change' } as const
  if (policy.approval_proof === 'signature')
    return <DialogButton {...button} dialog={(close) => <SignChange policy={policy} message={message} onClose={close} />} />
  return (
    <ConfirmButton
      button={button}
      title="Confirm the change?"
      action="Confirm"
      change={() => confirm(policy.id, {})}
      announcement={confirmed}
      outdates={outdated}
    >
      <p className="sentence">{words}</p>
      <p>It applies right away: payments are then decided by the less strict policy.</p>
    </ConfirmButton>
  )
}

/** A change that makes a policy less strict and waits: what it would be, and the buttons of those who may end the waiting. */
export const PendingChange = ({ policy, waiting }: { policy: Policy; waiting: Waiting }) => {
  const { account, can, currency } = useSession()
  const people = usePeople()
  const { change, requested_by: requester, effective_at, message } = waiting
  const threshold =
    change.approval_threshold_minor === undefined ? policy.approval_threshold_minor : change.approval_threshold_minor
  const { required_approval_count: count = policy.required_approval_count, ...changed } = change
  // Null: the count follows the threshold.
  const after = { ...policy, ...changed, required_approval_count: count ?? (threshold === null ? 0 : 1) }
  const nameOf = useBeneficiaryNames(after.beneficiary_ids)
  const isOwn = requester === account.id
  const words =
    change.status === 'archived' ? 'The policy would be archived.' : policySentence(after, policy, { currency, nameOf })
  return (
    <Card
      title="A change waits for a second person"
      footer={
        (isOwn || can('approval.decide')) && (
          <>
            <ConfirmButton
              button={{ children: 'Withdraw the change' }}
              title="Withdraw the change?"
              action="Withdraw"
              change={() => api.DELETE('/v1/spending-policies/{id}/pending-change', { path: { id: policy.id } })}
              announcement={() => 'Withdrawn: the policy stays as it is'}
              outdates={outdated}
            >
              <p>The policy stays as it is.</p>
            </ConfirmButton>
            {!isOwn && <ConfirmChange policy={policy} message={message} words={words} />}
          </>
        )
      }
    >
      <div className="stack-s">
        <p>
          <bdi>{people(requester)}</bdi> asked for it. It applies from {fullTime(effective_at)}, or when another approver confirms
          it.
        </p>
        <p className="sentence">{words}</p>
      </div>
    </Card>
  )
}
