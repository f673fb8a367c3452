import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { hasAccounts } from '../../../../src/lib/rail-names.ts'
import { useBankName, usePeople } from '../../api/names.ts'
import { api, beneficiaryQuery, paymentsQuery, paymentsSummaryQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { useDebounced, useFields } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { railFacts } from '../../lib/rails.ts'
import { makerText, moneyText } from '../../lib/words.ts'
import { LoadState } from '../../shell/load-state.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { CheckField, fieldsOf, TextField } from '../../ui/field.tsx'
import { Confirm, ConfirmButton, DialogButton, FormDialog, useChange } from '../../ui/form.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Card, Empty, ExactTime, Facts, Failure, Notice, Page, StatusBadge, TextNotice } from '../../ui/page.tsx'
import { FrozenBadge } from '../agents/agents.tsx'
import { PaymentsTable } from '../payments/payments-table.tsx'
import { tPayee } from './texts.ts'

type Beneficiary = Schemas['Beneficiary']
const back = { href: '/beneficiaries', label: t('nav.beneficiaries') }

export const BeneficiaryPage = ({ id }: { id: string }) => {
  const beneficiary = useQuery(beneficiaryQuery(id))
  if (beneficiary.data) return <BeneficiaryDetail beneficiary={beneficiary.data} />
  return (
    <Page title={t('beneficiary')} back={back}>
      <LoadState query={beneficiary} apiPath={`/v1/beneficiaries/${id}`} rows={2} />
    </Page>
  )
}

const cachesAs = ({ id }: Beneficiary) => beneficiaryQuery(id)
const cacheUpdates = { invalidates: ['beneficiaries'], cachesAs }

const referenceText = (beneficiary: Beneficiary): string => {
  const { account_reference: fixed, account_reference_required: required, payment_rail: rail } = beneficiary
  if (fixed !== null) return tPayee('always', { fixed })
  if (required) return tPayee('each_payment')
  return hasAccounts(rail) ? tPayee('none_till') : tPayee('optional')
}

/** Asks a person to confirm the beneficiary, which is needed only once. */
const Proposed = ({ beneficiary }: { beneficiary: Beneficiary }) => {
  const { can } = useSession()
  const people = usePeople()
  const confirm = useChange(() => api.POST('/v1/beneficiaries/{id}/confirm', { path: { id: beneficiary.id } }), {
    announcement: tPayee('confirmed'),
    invalidates: ['beneficiaries'],
    cachesAs,
  })
  return (
    <Notice tone="warn" title={tPayee('proposed')}>
      <p className="muted">
        {tPayee(beneficiary.changed_by ? 'proposed.renamed' : 'proposed.added', {
          who: makerText(beneficiary.changed_by ?? beneficiary.created_by, people),
        })}
      </p>
      {can('beneficiary.manage') && (
        <Button busy={confirm.isPending} onClick={() => confirm.mutate()}>
          {tPayee('confirm')}
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
          {manages && <BeneficiaryActions beneficiary={beneficiary} />}
          {can('payment.create') && status === 'active' && (
            <LinkButton href={`/payments/new?beneficiary=${beneficiary.id}`} variant="primary" icon="payments">
              {t('nav.pay')}
            </LinkButton>
          )}
        </>
      }
    >
      {status === 'frozen' && (
        <TextNotice tone="warn" title={tPayee('frozen')}>
          {tPayee('frozen.note')}
        </TextNotice>
      )}
      {beneficiary.confirmation === 'proposed' && status !== 'archived' && <Proposed beneficiary={beneficiary} />}
      <BeneficiaryName beneficiary={beneficiary} manages={manages} />
      <Card title={t('details')}>
        <Facts
          stacked
          facts={{
            [t('status')]: <StatusBadge status={status} />,
            [tPayee('method')]: railFacts[beneficiary.payment_rail].label,
            [t('destination')]: <span className="mono">{beneficiary.destination_mask}</span>,
            [tPayee('bank')]: bank,
            [tPayee('legal_name')]: beneficiary.legal_name,
            [tPayee('category')]: beneficiary.type,
            [t('account_reference')]: referenceText(beneficiary),
            [tPayee('added_by')]: <MadeBy maker={beneficiary.created_by} />,
            [tPayee('renamed_by')]: beneficiary.changed_by && <MadeBy maker={beneficiary.changed_by} />,
            [tPayee('added')]: <ExactTime at={beneficiary.created_at} />,
            '': <CopyButton value={beneficiary.id}>{t('copy_id')}</CopyButton>,
          }}
        />
      </Card>
      <PaymentsTo beneficiary={beneficiary} />
    </Page>
  )
}

const BeneficiaryActions = ({ beneficiary }: { beneficiary: Beneficiary }) => {
  const { id, display_name: name } = beneficiary
  return (
    <>
      <DialogButton dialog={(close) => <EditBeneficiary beneficiary={beneficiary} onClose={close} />}>
        {tPayee('edit')}
      </DialogButton>
      <DialogButton icon="freeze" dialog={(close) => <ConfirmFreeze beneficiary={beneficiary} onClose={close} />}>
        {beneficiary.status === 'frozen' ? t('unfreeze') : t('freeze')}
      </DialogButton>
      <ConfirmButton
        {...cacheUpdates}
        button={{ variant: 'danger', children: tPayee('archive') }}
        title={tPayee('archive.title', { name })}
        action={tPayee('archive')}
        change={() => api.DELETE('/v1/beneficiaries/{id}', { path: { id } })}
        announcement={() => tPayee('archive.done', { name })}
      >
        <p>{tPayee('archive.note')}</p>
      </ConfirmButton>
    </>
  )
}

type Props = { beneficiary: Beneficiary; onClose: () => void }

const ConfirmFreeze = ({ beneficiary: { id, display_name: name, status }, onClose }: Props) => {
  // Read once, when the dialog opens. If an answer is lost and the list reloads, a second click must not reverse the first.
  const [frozen] = useState(status === 'frozen')
  const freeze = frozen ? t('unfreeze') : t('freeze')
  return (
    <Confirm
      {...cacheUpdates}
      title={`${freeze} ${name}?`}
      action={freeze}
      harmless={frozen}
      change={() => api.PATCH('/v1/beneficiaries/{id}', { path: { id }, body: { status: frozen ? 'active' : 'frozen' } })}
      announcement={(after) => tPayee(after.status === 'frozen' ? 'freeze.done' : 'unfreeze.done', { name })}
      onClose={onClose}
    >
      <p>{frozen ? tPayee('unfreeze.note') : tPayee('freeze.note')}</p>
    </Confirm>
  )
}

const verdicts: Readonly<Record<Beneficiary['verification']['status'], string>> = {
  match: tPayee('check.match'),
  close_match: tPayee('check.close'),
  no_match: tPayee('other_name'),
  unavailable: tPayee('check.none'),
  unverified: tPayee('check.not_yet'),
}

const reports = {
  lookup: tPayee('reported.asked'),
  payment: tPayee('reported.payment'),
  daily_limit: tPayee('reported.limit'),
} as const

/** Registered name of the number, and the result of its check. */
const BeneficiaryName = ({ beneficiary, manages }: { beneficiary: Beneficiary; manages: boolean }) => {
  const { verification } = beneficiary
  const again = useChange(() => api.POST('/v1/beneficiaries/{id}/verify', { path: { id: beneficiary.id } }), {
    announcement: t('rail.checking'),
    invalidates: ['beneficiary'],
  })
  return (
    <Card title={tPayee('check')}>
      {verification.status === 'no_match' && (
        <TextNotice tone="warn" title={tPayee('check.other')}>
          {tPayee('check.ask')}
        </TextNotice>
      )}
      <Facts
        stacked
        facts={{
          [tPayee('registered')]: verification.name && <bdi>{verification.name}</bdi>,
          [tPayee('result')]: verification.source === 'daily_limit' ? tPayee('check.used_up') : verdicts[verification.status],
          [tPayee('reported')]: verification.source && reports[verification.source],
          [tPayee('checked')]: verification.checked_at && <ExactTime at={verification.checked_at} />,
        }}
      />
      {manages && (
        <div className="row">
          <Button busy={again.isPending} onClick={() => again.mutate()}>
            {tPayee('check.again')}
          </Button>
        </div>
      )}
      <Failure error={again.error} />
    </Card>
  )
}

/** Payments to one beneficiary. If each payment names an account, the list can be filtered by account. */
const PaymentsTo = ({ beneficiary }: { beneficiary: Beneficiary }) => {
  const [account, setAccount] = useState('')
  const account_reference = useDebounced(account.trim(), 200) || undefined
  const all = useInfiniteQuery(paymentsQuery({ beneficiary_id: beneficiary.id }))
  const filters = { beneficiary_id: beneficiary.id, account_reference }
  const shown = paymentsQuery(filters)
  const listed = rowsOf(all)
  const accounts = [...new Set(listed.flatMap(({ account_reference: reference }) => reference ?? []))]
  return (
    <Card title={t('payments_label')} flush>
      {beneficiary.account_reference_required && (
        <search className="filters">
          <TextField
            label={tPayee('account')}
            value={account}
            onChange={setAccount}
            maxLength={20}
            hint={tPayee('account.hint')}
            suggestions={accounts}
            mono
          />
        </search>
      )}
      {account_reference !== undefined && <Total filters={filters} />}
      <Listing
        query={shown}
        rows={3}
        empty={<Empty icon="payments" title={account_reference === undefined ? t('no_payments') : tPayee('account.none')} />}
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
  return <p className="filters-note">{tPayee('account.sum', { count, amount: moneyText(amount_minor, data.currency) })}</p>
}

const EditBeneficiary = ({ beneficiary, onClose }: Props) => {
  const { value, set } = useFields({
    display_name: beneficiary.display_name,
    legal_name: beneficiary.legal_name ?? '',
    type: beneficiary.type,
    required: beneficiary.account_reference_required,
  })
  // On a paybill, the account decides the recipient, so this setting cannot be changed.
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
      announcement: tPayee('saved'),
      invalidates: ['beneficiaries'],
      cachesAs,
      onDone: onClose,
    },
  )
  const field = fieldsOf(value, set, save.error)
  return (
    <FormDialog title={tPayee('edit.title')} action={tPayee('save')} mutation={save} onClose={onClose}>
      <TextField label={tPayee('name')} {...field('display_name')} maxLength={120} />
      <TextField label={tPayee('legal_name')} optional {...field('legal_name')} maxLength={120} />
      <TextField label={tPayee('category')} {...field('type')} maxLength={64} />
      {changesReference && <CheckField label={tPayee('require')} {...field('required')} />}
    </FormDialog>
  )
}
