import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { apiKeysQuery, grantsQuery, paymentsQuery, policiesQuery } from '../../api/queries.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { cx } from '../../lib/class-names.ts'
import { useSession } from '../../shell/session.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card } from '../../ui/layout.tsx'
import { recentHistory } from './balance.tsx'

type Step = { href: string; title: string; text: string; done: boolean }

const Steps = ({ steps }: { steps: readonly Step[] }) => (
  <ol className="steps">
    {steps.map((step, index) => (
      <li key={step.href} className={cx(step.done && 'step-done')}>
        <span className="step-mark">{step.done ? <Icon name="check" size={14} /> : index + 1}</span>
        <div className="grow">
          <p>
            <span className="strong">{step.title}</span>
            {step.done && <span className="visually-hidden"> (done)</span>}
          </p>
          <p className="quiet small">{step.text}</p>
        </div>
        {!step.done && (
          <Link href={step.href} className="button button-secondary button-small" aria-label={step.title}>
            Start
          </Link>
        )}
      </li>
    ))}
  </ol>
)

const useHas = () => {
  const history = useInfiniteQuery(recentHistory)
  const beneficiaries = useBeneficiaries()
  const policies = useInfiniteQuery(policiesQuery('active'))
  const keys = useInfiniteQuery(apiKeysQuery)
  const grants = useInfiniteQuery(grantsQuery)
  const payments = useInfiniteQuery(paymentsQuery({}))
  const some = (query: { data?: { pages: { data: unknown[] }[] } | undefined }) => (query.data?.pages[0]?.data.length ?? 0) > 0
  return {
    known: [history, policies, keys, grants, payments].every(({ isSuccess }) => isSuccess) && !beneficiaries.isPending,
    money: some(history),
    beneficiary: beneficiaries.all.length > 0,
    policy: some(policies),
    delegate: some(keys) || some(grants),
    payment: some(payments),
  }
}

/** The way from an empty account to a first payment; gone once it has been walked. */
export const FirstSteps = () => {
  const { ownsBalance, can } = useSession()
  const has = useHas()
  if (!ownsBalance || !can('policy.manage') || !has.known) return null
  const steps: Step[] = [
    { href: '/top-up', title: 'Top up the account', text: 'From M-PESA: confirm on your phone.', done: has.money },
    {
      href: '/beneficiaries/new',
      title: 'Add a beneficiary',
      text: 'A phone, a business or a bank account to pay.',
      done: has.beneficiary,
    },
    {
      href: '/policies/new',
      title: 'Set a policy',
      text: 'How much may go out, and from where on somebody has to approve.',
      done: has.policy,
    },
    {
      href: '/developers',
      title: 'Make an API key or connect an agent',
      text: 'Each with limits of its own.',
      done: has.delegate,
    },
    { href: '/payments/new', title: 'Make a payment', text: 'What will happen is shown before it is sent.', done: has.payment },
  ]
  if (steps.every(({ done }) => done)) return null
  return (
    <Card title="First steps" note={`${steps.filter(({ done }) => done).length} of ${steps.length} done`} flush>
      <Steps steps={steps} />
    </Card>
  )
}
