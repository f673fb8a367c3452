import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { usePeople } from '../../api/names.ts'
import { api, membersQuery, rowsOf, type Schemas, separationQuery, workspacesQuery } from '../../api/queries.ts'
import { useFields } from '../../lib/drafts.ts'
import { moneyText, parseMajor } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { fieldsOf, MoneyField } from '../../ui/field.tsx'
import { DialogButton, FormCard, useChange } from '../../ui/form.tsx'
import { Card, ExactTime } from '../../ui/page.tsx'
import { SignText } from '../approvals/sign-text.tsx'

const path = '/v1/workspaces/current/separate-balance'
const outdates = ['separation', 'workspace', 'workspaces', 'account', 'history', 'summary'] as const

/** For workspaces that share a balance, as all of an owner did before each had one: why to separate it, how much, and what waits. */
export const SeparateBalance = () => {
  const { account, workspace, owns } = useSession()
  const own = useQuery({ ...workspacesQuery, enabled: owns && workspace.kind === 'personal' })
  const shares = own.data?.data.some((view) => view.workspace.balance_shared && view.workspace.owning_account_id === account.id)
  const { data } = useQuery({ ...separationQuery, enabled: workspace.balance_shared || shares === true })
  const waits = data?.pending_separation
  if (waits) return <Waiting waits={waits} />
  return data && workspace.balance_shared && owns ? <Separate /> : null
}

const Separate = () => {
  const { workspace, currency } = useSession()
  const { value, set } = useFields({ amount: '' })
  const minor = parseMajor(value.amount)
  const separate = useChange((keyed) => api.POST(path, keyed({ amount_minor: minor ?? '0' })), {
    announcement: ({ pending_separation: waits }) =>
      waits ? 'It waits for a confirmation' : 'The workspace has its own balance',
    outdates,
  })
  const field = fieldsOf(value, set, separate.error)
  return (
    <FormCard title="A balance of its own" action="Give it its own balance" making={separate} ready={minor !== null}>
      <p>
        {workspace.name} still pays from your own balance. Whoever may pay in one of your workspaces reaches the money of all of
        them, past the rules of the others. With a balance of its own, only the rules of {workspace.name} decide.
      </p>
      <MoneyField label="How much becomes its own" {...field('amount', 'amount_minor')} currency={currency} />
    </FormCard>
  )
}

const Waiting = ({ waits }: { waits: Schemas['PendingSeparation'] }) => {
  const { account, workspace, currency, can } = useSession()
  const people = usePeople()
  const members = rowsOf(useInfiniteQuery(membersQuery))
  const withdraw = useChange(() => api.DELETE(path, {}), {
    announcement: 'Withdrawn: nothing moved',
    outdates,
    announcesFailure: true,
  })
  const isOwn = waits.requested_by === account.id
  const mayConfirm = can('approval.decide') && (!isOwn || members.length === 1)
  return (
    <Card
      title="A balance of its own waits for a confirmation"
      footer={
        (isOwn || can('approval.decide')) && (
          <>
            <Button busy={withdraw.isPending} onClick={() => withdraw.mutate()}>
              Withdraw
            </Button>
            {mayConfirm && (
              <DialogButton
                variant="primary"
                dialog={(close) => (
                  <SignText
                    title="Confirm the separation?"
                    message={waits.message}
                    send={(body) => api.POST(`${path}/confirm`, { body })}
                    announcement={({ pending_separation: left }) =>
                      left ? 'Confirmed: it waits for the other workspaces' : 'Confirmed: the workspace has its own balance'
                    }
                    outdates={outdates}
                    plain="Confirm without a signature"
                    onClose={close}
                  />
                )}
              >
                Confirm
              </DialogButton>
            )}
          </>
        )
      }
    >
      <p>
        <bdi>{isOwn ? 'You' : people(waits.requested_by)}</bdi> asked to move {moneyText(waits.amount_minor, currency)} into a
        balance of its own{waits.workspace_id === workspace.id ? '' : ' for another workspace on this balance'}. It moves as soon
        as an approver of each workspace with a rule for two people or signatures has confirmed it. On{' '}
        <ExactTime at={waits.effective_at} /> it moves without a confirmation; where a rule asks for a signature, it is withdrawn
        then.
      </p>
    </Card>
  )
}
