import { useInfiniteQuery } from '@tanstack/react-query'
import { usePeople } from '../../api/names.ts'
import { api, membersQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { useFields } from '../../lib/drafts.ts'
import { moneyText, parseMajor } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { fieldsOf, MoneyField } from '../../ui/field.tsx'
import { DialogButton, FormCard, useChange } from '../../ui/form.tsx'
import { Card, ExactTime } from '../../ui/page.tsx'
import { SignText } from '../approvals/sign-text.tsx'
import { richWork, tWork } from '../workspace/texts.ts'

const path = '/v1/workspaces/current/separate-balance'
const invalidates = ['separation', 'workspace', 'workspaces', 'account', 'history', 'summary'] as const

const SeparationForm = () => {
  const { workspace, currency } = useSession()
  const { value, set } = useFields({ amount: '' })
  const minor = parseMajor(value.amount)
  const separate = useChange((keyed) => api.POST(path, keyed({ amount_minor: minor ?? '0' })), {
    announcement: ({ pending_separation: waits }) => (waits ? tWork('separate.waits') : tWork('separate.done')),
    invalidates,
  })
  const field = fieldsOf(value, set, separate.error)
  return (
    <FormCard title={tWork('separate')} action={tWork('separate.give')} mutation={separate} ready={minor !== null}>
      <p>{tWork('separate.why', { name: workspace.name, name2: workspace.name })}</p>
      <MoneyField label={tWork('separate.amount')} {...field('amount', 'amount_minor')} currency={currency} />
    </FormCard>
  )
}

const PendingSeparation = ({ waits }: { waits: Schemas['PendingSeparation'] }) => {
  const { account, workspace, currency, can } = useSession()
  const people = usePeople()
  const members = rowsOf(useInfiniteQuery(membersQuery))
  const withdraw = useChange(() => api.DELETE(path, {}), {
    announcement: tWork('separate.withdrawn'),
    invalidates,
    announcesFailure: true,
  })
  const isRequester = waits.requested_by === account.id
  const mayConfirm = can('approval.decide') && (!isRequester || members.length === 1)
  return (
    <Card
      title={tWork('separate.waiting')}
      footer={
        (isRequester || can('approval.decide')) && (
          <>
            <Button busy={withdraw.isPending} onClick={() => withdraw.mutate()}>
              {tWork('separate.withdraw')}
            </Button>
            {mayConfirm && (
              <DialogButton
                variant="primary"
                dialog={(close) => (
                  <SignText
                    title={tWork('separate.confirm')}
                    message={waits.message}
                    send={(body) => api.POST(`${path}/confirm`, { body })}
                    announcement={({ pending_separation: left }) =>
                      left ? tWork('separate.confirmed_waits') : tWork('separate.confirmed')
                    }
                    invalidates={invalidates}
                    unsignedLabel={tWork('separate.plain')}
                    onClose={close}
                  />
                )}
              >
                {tWork('separate.act')}
              </DialogButton>
            )}
          </>
        )
      }
    >
      <p>
        {richWork('separate.note', {
          bdi: <bdi>{isRequester ? tWork('separate.you') : people(waits.requested_by)}</bdi>,
          amount: moneyText(waits.amount_minor, currency),
          what: waits.workspace_id === workspace.id ? '' : tWork('separate.other'),
          at: <ExactTime at={waits.effective_at} />,
        })}
      </p>
    </Card>
  )
}

/** Offers to separate the balance, or shows the pending separation. */
export const SeparateBalance = ({ waits }: { waits: Schemas['PendingSeparation'] | null }) =>
  waits ? <PendingSeparation waits={waits} /> : <SeparationForm />
