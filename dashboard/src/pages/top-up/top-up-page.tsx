import { useQuery } from '@tanstack/react-query'
import { useLocation, useSearchParams } from 'wouter'
import { depositActions } from '../../../../src/rails/texts.ts'
import { useBeneficiaries } from '../../api/names.ts'
import { api, historyQuery, type Schemas, topupQuery } from '../../api/queries.ts'
import { useDraft } from '../../lib/drafts.ts'
import { failureRemedy } from '../../lib/failure-texts.ts'
import { depositText, failureText, t } from '../../lib/language.ts'
import { useNow } from '../../lib/time.ts'
import { moneyText, parseMajor, shortMoney } from '../../lib/words.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { LoadState } from '../../shell/load-state.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { CopyButton, CopyText } from '../../ui/copy.tsx'
import { fieldsOf, MoneyField, TextField } from '../../ui/field.tsx'
import { FormCard, useChange } from '../../ui/form.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Arc } from '../../ui/meter.tsx'
import { Amount, Card, Empty, ExactTime, Facts, Failure, Page, StatusBadge, TextNotice, Time } from '../../ui/page.tsx'
import { QrCode } from '../../ui/qr-code.tsx'
import { tTopUp } from './texts.ts'

const quickAmounts = ['500', '1000', '5000', '10000']

export const TopUpPage = () => {
  const { seesBalance, workspace } = useSession()
  return (
    <Page title={t('top_up')} lead={seesBalance ? tTopUp('note') : tTopUp('note.team', { name: workspace.name })}>
      <div className="split">
        <Allowed permission="topup.create" action={tTopUp('to_top_up')}>
          <div className="stack">
            <TopUpForm />
            <DepositForm />
          </div>
        </Allowed>
        <div className="split-aside">{seesBalance && <RecentTopUps />}</div>
      </div>
    </Page>
  )
}

const TopUpForm = () => {
  const { currency, account } = useSession()
  const [, navigate] = useLocation()
  const [params] = useSearchParams()
  const { value, set, clear } = useDraft('top-up', account.id, () => ({ amount: '', phone: '' }))
  const minor = parseMajor(value.amount)
  const start = useChange(
    (keyed) =>
      api.POST('/v1/topups/initiate', keyed({ amount_minor: minor ?? '0', phone_number: value.phone.replaceAll(' ', '') })),
    {
      onDone: (topup) => {
        clear()
        navigate(`/top-up/${topup.id}${params.size > 0 ? `?${params}` : ''}`)
      },
    },
  )
  const field = fieldsOf(value, set, start.error)
  const asked = minor !== null && minor !== '0'
  return (
    <FormCard
      large
      action={asked ? tTopUp('prompt_for', { amount: moneyText(minor, currency) }) : tTopUp('prompt')}
      mutation={start}
      ready={asked && value.phone.trim() !== ''}
    >
      <MoneyField
        label={t('amount')}
        large
        autoFocus
        {...field('amount', 'amount_minor')}
        currency={currency}
        hint={tTopUp('amount.hint')}
      />
      <div className="row row-tight">
        {quickAmounts.map((amount) => (
          <Button key={amount} size="small" onClick={() => set({ amount })}>
            {shortMoney(`${amount}00`, currency)}
          </Button>
        ))}
      </div>
      <TextField
        label={tTopUp('phone')}
        type="tel"
        inputMode="tel"
        autoComplete="tel"
        {...field('phone', 'phone_number')}
        placeholder="0712 345 678"
        hint={tTopUp('phone.hint')}
      />
    </FormCard>
  )
}

type Method = keyof typeof depositActions
const methods = Object.keys(depositActions) as Method[]

/** Payment instructions with an account number, for amounts that a prompt cannot move. */
const DepositForm = () => {
  const [, navigate] = useLocation()
  const start = useChange((keyed, method: Method) => api.POST('/v1/topups/initiate', keyed({ method })), {
    onDone: (topup) => navigate(`/top-up/${topup.id}`),
  })
  return (
    <Card title={tTopUp('deposit')} note={tTopUp('deposit.note')}>
      <div className="row">
        {methods.map((method) => (
          <Button key={method} busy={start.isPending && start.variables === method} onClick={() => start.mutate(method)}>
            {depositText(method) ?? depositActions[method]}
          </Button>
        ))}
      </div>
      <Failure error={start.error} />
    </Card>
  )
}

const RecentTopUps = () => {
  const { currency } = useSession()
  return (
    <List
      title={tTopUp('recent')}
      query={historyQuery({ type: 'topup' }, useSession().hasOwnBalance, 6)}
      rows={2}
      firstPageOnly
      empty={<Empty icon="topup" title={tTopUp('recent.none')} />}
    >
      {(entry) => (
        <Item href={`/top-up/${entry.reference.id}`} icon="topup" tone="good" title={<Time at={entry.created_at} />}>
          <Amount minor={entry.amount_minor} currency={currency} signed />
        </Item>
      )}
    </List>
  )
}

type TopUp = Schemas['Topup']

/** Time that a prompt stays on a phone. The service waits longer: without an answer, the payment may still have happened. */
const promptSeconds = 60

export const TopUpStatusPage = ({ id }: { id: string }) => {
  // The stream reports the outcome; polling covers a missed event. A success may still follow a timeout.
  const topup = useQuery({
    ...topupQuery(id),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? 3000 : state.data?.status === 'expired' ? 15_000 : false),
  })
  return (
    <Page title={t('top_up')} back={{ href: '/top-up', label: t('top_up') }}>
      <LoadState query={topup} apiPath={`/v1/topups/${id}`} />
      {topup.data && <TopUpState topup={topup.data} />}
    </Page>
  )
}

/** A deposit keeps its instructions after it expires, because money that arrives later is still credited. */
const Waiting = ({ topup }: { topup: TopUp }) => {
  if (topup.instructions) return <Instructions topup={topup} />
  return topup.status === 'pending' ? <Pending topup={topup} /> : <TimedOut />
}

const TopUpState = ({ topup }: { topup: TopUp }) => (
  <div className="split">
    <Card>
      <div aria-live="polite" className="stack">
        {(topup.status === 'pending' || topup.status === 'expired') && <Waiting topup={topup} />}
        {topup.status === 'succeeded' && <Succeeded topup={topup} />}
        {topup.status === 'failed' && <Failed topup={topup} />}
      </div>
    </Card>
    <div className="split-aside">
      <Card title={t('details')}>
        <Facts
          facts={{
            [t('status')]: <StatusBadge status={topup.status} />,
            [t('amount')]: amountOf(topup) && <Amount minor={amountOf(topup) ?? '0'} currency={topup.currency} />,
            [tTopUp('from')]: topup.phone_number_mask && <span className="mono">{topup.phone_number_mask}</span>,
            [t('receipt')]: topup.provider_receipt && <CopyText value={topup.provider_receipt} label={t('receipt_number.it')} />,
            [tTopUp('started')]: <ExactTime at={topup.created_at} />,
            [tTopUp('expires')]: topup.instructions && <ExactTime at={topup.expires_at} />,
            '': <CopyButton value={topup.id}>{tTopUp('copy_id')}</CopyButton>,
          }}
        />
      </Card>
    </div>
  </div>
)

/** Received amount, else the requested one. */
const amountOf = ({ received_minor, amount_minor }: TopUp): string | null => received_minor ?? amount_minor

/** Groups of three digits are easier to read aloud and to type. */
const groupOfThree = (digits: string): string => digits.replace(/(\d{3})(?=\d)/g, '$1 ')

const instructionRows = ({ instructions }: TopUp): [name: string, value: string][] => {
  if (!instructions) return []
  const { account_number: account } = instructions
  return 'paybill' in instructions
    ? Object.entries({ Paybill: instructions.paybill, [tTopUp('account_number')]: account })
    : Object.entries({
        [tTopUp('bank_code')]: instructions.bank_code,
        [tTopUp('account_number')]: account,
        Reference: instructions.reference,
      })
}

const Instructions = ({ topup }: { topup: TopUp }) => (
  <div className="stack">
    <h2>{tTopUp('pay_in')}</h2>
    {topup.status === 'expired' && (
      <TextNotice tone="warn" title={tTopUp('deposit.expired')}>
        {tTopUp('deposit.expired_note')}
      </TextNotice>
    )}
    <Facts
      facts={Object.fromEntries(
        instructionRows(topup).map(([name, value]) => [
          name,
          <CopyText key={name} value={value} text={groupOfThree(value)} label={name.toLowerCase()} />,
        ]),
      )}
    />
    {topup.instructions && (
      <QrCode
        text={instructionRows(topup)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n')}
        label={tTopUp('qr')}
      />
    )}
    <p className="muted">{tTopUp('credited')}</p>
  </div>
)

const Pending = ({ topup }: { topup: TopUp }) => {
  const time = useNow(1000)
  const left = Math.min(promptSeconds, Math.ceil((Date.parse(topup.created_at) + promptSeconds * 1000 - time) / 1000))
  if (left <= 0)
    return (
      <Empty icon="clock" tone="warn" title={tTopUp('waiting')} heading>
        {tTopUp('waiting.note')}
      </Empty>
    )
  return (
    <div className="empty">
      <div className="ring">
        <Arc part={left / promptSeconds} size={132} line={7} radius={58} />
        <strong className="amount-medium" role="timer">
          {tTopUp('seconds', { left })}
        </strong>
      </div>
      <h2>{tTopUp('check_phone')}</h2>
      <p>
        {tTopUp('enter_pin', {
          phone: (topup.phone_number_mask ?? '').slice(-4).padStart(8, '•'),
          amount: moneyText(topup.amount_minor ?? '0', topup.currency),
        })}
      </p>
    </div>
  )
}

const Succeeded = ({ topup }: { topup: TopUp }) => (
  <Empty
    icon="check"
    tone="good"
    title={tTopUp('arrived', { amount: moneyText(amountOf(topup) ?? '0', topup.currency) })}
    heading
    actions={
      <>
        <NextStep />
        <LinkButton href="/">{t('nav.overview')}</LinkButton>
      </>
    }
  >
    {tTopUp('available_now')}
  </Empty>
)

/** A payment, or the first beneficiary if there is none yet. */
const NextStep = () => {
  const { can } = useSession()
  const beneficiaries = useBeneficiaries()
  if (!can('payment.create') || beneficiaries.isPending) return null
  return beneficiaries.hasActive || beneficiaries.error ? (
    <LinkButton href="/payments/new" variant="primary">
      {tTopUp('make_payment')}
    </LinkButton>
  ) : (
    <LinkButton href="/beneficiaries/new?then_pay" variant="primary">
      {tTopUp('add_someone')}
    </LinkButton>
  )
}

const Failed = ({ topup }: { topup: TopUp }) => (
  <Empty
    icon="cross"
    tone="bad"
    title={tTopUp('failed')}
    heading
    actions={
      <LinkButton href="/top-up" variant="primary">
        {t('try_again')}
      </LinkButton>
    }
  >
    {tTopUp('failed.note', {
      failure_message: failureText(topup.failure_code)?.sentence ?? topup.failure_message ?? tTopUp('declined'),
      remedy: failureRemedy(topup),
    })}
  </Empty>
)

const TimedOut = () => (
  <>
    <Empty icon="alert" tone="warn" title={tTopUp('timeout')} heading>
      {tTopUp('timeout.note')}
    </Empty>
    <TextNotice tone="warn" title={t('unknown.title')}>
      {tTopUp('moved.note')}
    </TextNotice>
    <div className="row">
      <LinkButton href="/">{tTopUp('view_balance')}</LinkButton>
      <LinkButton href="/top-up" variant="ghost">
        {tTopUp('another')}
      </LinkButton>
    </div>
  </>
)
