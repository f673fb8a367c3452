import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { hasAccounts } from '../../../../src/lib/rail-names.ts'
import { useBankName, usePeople } from '../../api/names.ts'
import { api, beneficiaryQuery, paymentsQuery, paymentsSummaryQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { useDebounced, useFields } from '../../lib/drafts.ts'
import { railFacts } from '../../lib/rails.ts'
import { countWords, makerText, moneyText } from '../../lib/words.ts'
import { LoadState, useSession } from '../../shell/session.tsx'
import { Button, CopyButton, LinkButton } from '../../ui/button.tsx'
import { CheckField, fieldsOf, TextField } from '../../ui/field.tsx'
import { Confirm, ConfirmButton, DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Card, Empty, ExactTime, Facts, Failure, Notice, Page, StatusBadge, TextNotice } from '../../ui/page.tsx'
import { FrozenBadge } from '../agents/agents.tsx'
import { PaymentsTable } from '../payments/payments-table.tsx'

type Beneficiary = Schemas['Beneficiary']
const back = { href: '/beneficiaries', label: 'Beneficiaries' }

export const BeneficiaryPage = ({ id }: { id: string }) => {
  const beneficiary = useQuery(beneficiaryQuery(id))
  if (beneficiary.data) return <BeneficiaryDetail beneficiary={beneficiary.data} />
  return (
    <Page title="Beneficiary" back={back}>
      <LoadState query={beneficiary} path={`/v1/beneficiaries/${id}`} rows={2} />
    </Page>
  )
}

const keeps = ({ id }: Beneficiary) => beneficiaryQuery(id)
const shared = { outdates: ['beneficiaries'], keeps }

const referenceText = (beneficiary: Beneficiary): string => {
  const { account_reference: fixed, account_reference_required: required, payment_rail: rail } = beneficiary
  if (fixed !== null) return `Always ${fixed}`
  if (required) return 'Named with each payment'
  return hasAccounts(rail) ? 'None: a till' : 'Optional'
}

/** A person looks at who is paid, once. */
const Proposed = ({ beneficiary }: { beneficiary: Beneficiary }) => {
  const { can } = useSession()
  const people = usePeople()
  const confirm = useChange(() => api.POST('/v1/beneficiaries/{id}/confirm', { path: { id: beneficiary.id } }), {
    announcement: 'Beneficiary confirmed',
    outdates: ['beneficiaries'],
    keeps,
  })
  return (
    <Notice tone="warn" title="No person has confirmed this beneficiary">
      <p className="quiet">
        {makerText(beneficiary.changed_by ?? beneficiary.created_by, people)} {beneficiary.changed_by ? 'renamed' : 'added'} it.
        Payments by keys and agents to it ask a person until it is confirmed.
      </p>
      {can('beneficiary.manage') && (
        <Button busy={confirm.isPending} onClick={() => confirm.mutate()}>
          Confirm beneficiary
        </Button>
      )}
      <Failure error={confirm.error} />
    </Notice>
  )
}

const MadeBy = ({ maker }: { maker: Schemas['Maker'] }) => {
  const name = makerText(maker, usePeople())
  if (maker.grant_id === null) return name
  return (
    <>
      <Link href={`/beneficiaries?made_by=${maker.grant_id}`}>{name}</Link> <FrozenBadge by={maker} />
    </>
  )
}

const BeneficiaryDetail = ({ beneficiary }: { beneficiary: Beneficiary }) => {
  const { can } = useSession()
  const { status } = beneficiary
  const bank = useBankName(beneficiary.bank_code)
  const manages = can('beneficiary.manage') && status !== 'archived'
  return (
    <Page
      title={beneficiary.display_name}
      back={back}
      actions={
        <>
          {manages && <Acts beneficiary={beneficiary} />}
          {can('payment.create') && status === 'active' && (
            <LinkButton href={`/payments/new?beneficiary=${beneficiary.id}`} variant="primary" icon="payments">
              Pay
            </LinkButton>
          )}
        </>
      }
    >
      {status === 'frozen' && (
        <TextNotice tone="warn" title="Payments to this beneficiary are frozen">
          This applies to the destination, also if it is added again under another name.
        </TextNotice>
      )}
      {beneficiary.confirmation === 'proposed' && status !== 'archived' && <Proposed beneficiary={beneficiary} />}
      <BeneficiaryName beneficiary={beneficiary} manages={manages} />
      <Card title="Details">
        <Facts
          stacked
          facts={{
            Status: <StatusBadge status={status} />,
            'Payment method': railFacts[beneficiary.payment_rail].label,
            Destination: <span className="mono">{beneficiary.destination_mask}</span>,
            Bank: bank,
            'Legal name': beneficiary.legal_name,
            Category: beneficiary.type,
            'Account reference': referenceText(beneficiary),
            'Added by': <MadeBy maker={beneficiary.created_by} />,
            'Renamed by': beneficiary.changed_by && <MadeBy maker={beneficiary.changed_by} />,
            Added: <ExactTime at={beneficiary.created_at} />,
            '': <CopyButton value={beneficiary.id}>Copy ID</CopyButton>,
          }}
        />
      </Card>
      <PaymentsTo beneficiary={beneficiary} />
    </Page>
  )
}

const Acts = ({ beneficiary }: { beneficiary: Beneficiary }) => {
  const { id, display_name: name } = beneficiary
  return (
    <>
      <DialogButton dialog={(close) => <EditBeneficiary beneficiary={beneficiary} onClose={close} />}>Edit</DialogButton>
      <DialogButton icon="freeze" dialog={(close) => <ConfirmFreeze beneficiary={beneficiary} onClose={close} />}>
        {beneficiary.status === 'frozen' ? 'Unfreeze' : 'Freeze'}
      </DialogButton>
      <ConfirmButton
        {...shared}
        button={{ variant: 'danger', children: 'Archive' }}
        title={`Archive ${name}?`}
        action="Archive"
        change={() => api.DELETE('/v1/beneficiaries/{id}', { path: { id } })}
        announcement={() => `${name} archived`}
      >
        <p>It can no longer be paid, and this can’t be undone. Its past payments stay in the list.</p>
      </ConfirmButton>
    </>
  )
}

type Props = { beneficiary: Beneficiary; onClose: () => void }

const ConfirmFreeze = ({ beneficiary: { id, display_name: name, status }, onClose }: Props) => {
  // What was asked stays what is asked: after a lost answer a second press must not undo the first.
  const [frozen] = useState(status === 'frozen')
  const freeze = frozen ? 'Unfreeze' : 'Freeze'
  return (
    <Confirm
      {...shared}
      title={`${freeze} ${name}?`}
      action={freeze}
      harmless={frozen}
      change={() => api.PATCH('/v1/beneficiaries/{id}', { path: { id }, body: { status: frozen ? 'active' : 'frozen' } })}
      announcement={(after) => `${name} ${after.status === 'frozen' ? 'frozen' : 'unfrozen'}`}
      onClose={onClose}
    >
      <p>
        {frozen
          ? 'Payments to this destination can be made again.'
          : 'No more payments go to this destination until you unfreeze it. Payments already sent still arrive.'}
      </p>
    </Confirm>
  )
}

const verdicts: Readonly<Record<Beneficiary['verification']['status'], string>> = {
  match: 'The same name',
  close_match: 'A similar name: compare the two',
  no_match: 'Another name',
  unavailable: 'The payment method gave no name: check the number with the beneficiary',
  unverified: 'Not checked yet, or name checks are off',
}

const reports = { lookup: 'When asked', payment: 'With a payment', daily_limit: 'Not checked: daily limit' } as const

/** Whose number it is, as the payment method reports it. */
const BeneficiaryName = ({ beneficiary, manages }: { beneficiary: Beneficiary; manages: boolean }) => {
  const { verification } = beneficiary
  const again = useChange(() => api.POST('/v1/beneficiaries/{id}/verify', { path: { id: beneficiary.id } }), {
    announcement: 'Checking. The answer appears here.',
    outdates: ['beneficiary'],
  })
  return (
    <Card title="Name check">
      {verification.status === 'no_match' && (
        <TextNotice tone="warn" title="Another name is registered for this number">
          Ask the beneficiary for the right number before you pay.
        </TextNotice>
      )}
      <Facts
        stacked
        facts={{
          'Registered name': verification.name && <bdi>{verification.name}</bdi>,
          Result:
            verification.source === 'daily_limit'
              ? 'Not checked, because today’s names are used up: check the number with the beneficiary'
              : verdicts[verification.status],
          Reported: verification.source && reports[verification.source],
          Checked: verification.checked_at && <ExactTime at={verification.checked_at} />,
        }}
      />
      {manages && (
        <div className="row">
          <Button busy={again.isPending} onClick={() => again.mutate()}>
            Check again
          </Button>
        </div>
      )}
      <Failure error={again.error} />
    </Card>
  )
}

/** The payments to one beneficiary; where each names an account, those to one account as well. */
const PaymentsTo = ({ beneficiary }: { beneficiary: Beneficiary }) => {
  const [account, setAccount] = useState('')
  const account_reference = useDebounced(account.trim(), 200) || undefined
  const all = useInfiniteQuery(paymentsQuery({ beneficiary_id: beneficiary.id }))
  const filters = { beneficiary_id: beneficiary.id, account_reference }
  const shown = paymentsQuery(filters)
  const listed = rowsOf(all)
  const accounts = [...new Set(listed.flatMap(({ account_reference: reference }) => reference ?? []))]
  return (
    <Card title="Payments" flush>
      {beneficiary.account_reference_required && (
        <search className="filters">
          <TextField
            label="Account"
            value={account}
            onChange={setAccount}
            maxLength={20}
            hint="The whole account number"
            suggestions={accounts}
            mono
          />
        </search>
      )}
      {account_reference !== undefined && <Total filters={filters} />}
      <Listing
        query={shown}
        rows={3}
        empty={
          <Empty icon="payments" title={account_reference === undefined ? 'No payments yet' : 'No payments to this account'} />
        }
      >
        {(rows) => <PaymentsTable payments={rows} without="payee" />}
      </Listing>
    </Card>
  )
}

const Total = ({ filters }: { filters: Parameters<typeof paymentsSummaryQuery>[0] }) => {
  const { data } = useQuery(paymentsSummaryQuery(filters, 1))
  if (!data || data.spent.count === 0) return null
  const { count, amount_minor } = data.spent
  return (
    <p className="filters-note">
      {countWords(count, 'payment')} to this account, {moneyText(amount_minor, data.currency)} in all
    </p>
  )
}

const EditBeneficiary = ({ beneficiary, onClose }: Props) => {
  const { value, set } = useFields({
    display_name: beneficiary.display_name,
    legal_name: beneficiary.legal_name ?? '',
    type: beneficiary.type,
    required: beneficiary.account_reference_required,
  })
  // At a paybill it decides who is paid, and does not change.
  const changesReference = !hasAccounts(beneficiary.payment_rail)
  const save = useChange(
    () => {
      const body = {
        display_name: value.display_name.trim(),
        legal_name: value.legal_name.trim() || null,
        type: value.type.trim(),
        ...(changesReference && { account_reference_required: value.required }),
      }
      return api.PATCH('/v1/beneficiaries/{id}', { path: { id: beneficiary.id }, body })
    },
    {
      announcement: 'Beneficiary saved',
      outdates: ['beneficiaries'],
      keeps,
      onDone: onClose,
    },
  )
  const field = fieldsOf(value, set, save.error)
  return (
    <FormDialog title="Edit beneficiary" action="Save" making={save} onClose={onClose}>
      <TextField label="Name" {...field('display_name')} maxLength={120} />
      <TextField label="Legal name" optional {...field('legal_name')} maxLength={120} />
      <TextField label="Category" {...field('type')} maxLength={64} />
      {changesReference && <CheckField label="Require an account reference" {...field('required')} />}
    </FormDialog>
  )
}
