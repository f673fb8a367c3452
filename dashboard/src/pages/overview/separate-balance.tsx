import { useQuery } from '@tanstack/react-query'
import { api, separationQuery } from '../../api/queries.ts'
import { useFields } from '../../lib/drafts.ts'
import { moneyText, parseMajor } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { fieldsOf, MoneyField } from '../../ui/field.tsx'
import { FormCard, useChange } from '../../ui/form.tsx'
import { ExactTime, Notice } from '../../ui/page.tsx'

const path = '/v1/workspaces/current/separate-balance'
const outdates = ['separation', 'workspace', 'workspaces', 'account', 'history', 'summary'] as const

/** For a team that shares its owner's balance, as all did before each had one: why to separate it, and how much. */
export const SeparateBalance = () => {
  const { workspace, currency } = useSession()
  const { data } = useQuery(separationQuery)
  const { value, set } = useFields({ amount: '' })
  const minor = parseMajor(value.amount)
  const separate = useChange((keyed) => api.POST(path, keyed({ amount_minor: minor ?? '0' })), {
    announcement: ({ pending_separation: waits }) =>
      waits ? 'It waits for a confirmation' : 'The workspace has its own balance',
    outdates,
  })
  const withdraw = useChange(() => api.DELETE(path, {}), { announcement: 'Withdrawn', outdates })
  const field = fieldsOf(value, set, separate.error)
  const waits = data?.pending_separation
  if (waits)
    return (
      <Notice tone="info" title="A balance of its own waits for a confirmation">
        <p>
          {moneyText(waits.amount_minor, currency)} moves at <ExactTime at={waits.effective_at} /> at the latest, or when an
          approver of each workspace with a rule for two people or signatures has confirmed it.
        </p>
        <Button busy={withdraw.isPending} onClick={() => withdraw.mutate()}>
          Withdraw
        </Button>
      </Notice>
    )
  return (
    <FormCard action="Give it its own balance" making={separate} ready={minor !== null}>
      <p>
        {workspace.name} still pays from your own balance. Whoever may pay in one of your workspaces reaches the money of all of
        them, past the rules of the others. With a balance of its own, only the rules of {workspace.name} decide.
      </p>
      <MoneyField label="How much becomes its own" {...field('amount', 'amount_minor')} currency={currency} />
    </FormCard>
  )
}
