import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { groupFaults, type RowFault, rowsText } from '../../../../client/src/list-faults.ts'
import { ApiError } from '../../api/error.ts'
import type { Schemas } from '../../api/queries.ts'
import { type BatchSheet, fieldName, splitByFault } from '../../lib/batch-sheet.ts'
import { richBatch, tBatch } from '../../lib/batch-texts.ts'
import { warningsOfBatch } from '../../lib/batch-warnings.ts'
import { t } from '../../lib/language.ts'
import { saveFile } from '../../lib/text-file.ts'
import { capitalized, feeWords, moneyText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Facts, Failure, Notice, Time } from '../../ui/page.tsx'

type Props = { list: BatchSheet; error: unknown; faults: readonly RowFault[]; meant: boolean; onMeant: () => void }

/** Faults to correct, each kind once with its rows. Faults of the whole batch are shown separately. */
export const BatchFaults = ({ list, error, faults, meant, onMeant }: Props) => {
  const currency = useSession().account.balance.currency
  const {
    total_minor: total,
    fees_minor: fees,
    available_minor: available,
    reason,
  } = error instanceof ApiError ? error.details : {}
  const isShort = typeof total === 'string'
  const wrong = new Set(faults.map(({ row }) => row))
  const named = (param: string | null) => (param === null || param === 'row' ? '' : `${fieldName(list, param)} `)
  const reasons = () => {
    const said = new Map<number, string>()
    for (const { row, param, message } of faults)
      said.set(row, [said.get(row), `${named(param)}${message}`].filter(Boolean).join('; '))
    return said
  }
  const save = (which: 'payable' | 'wrong') =>
    saveFile(
      `${list.name || 'list'}-${which === 'payable' ? 'can-be-paid' : 'cannot-be-paid'}.csv`,
      new Blob([splitByFault(list, reasons())[which]], { type: 'text/csv' }),
    )
  return (
    <>
      {isShort && (
        <Notice tone="bad" title={tBatch('short')} live>
          <p>
            {richBatch('short.note', {
              amount: moneyText(total, currency),
              fees: typeof fees === 'string' && fees !== '0' && tBatch('short.fees', { amount: moneyText(fees, currency) }),
              available:
                typeof available === 'string' &&
                richBatch('short.available', {
                  amount: moneyText(available, currency),
                  link: <Link href="/top-up">{t('top_up')}</Link>,
                }),
            })}
          </p>
        </Notice>
      )}
      {faults.length === 0 && !isShort && <Failure error={error} />}
      {faults.length > 0 && (
        <Notice tone="bad" title={tBatch('cannot', { count: wrong.size })} live>
          <ul>
            {groupFaults(faults).map((kind) => (
              <li key={`${kind.param} ${kind.message}`}>
                <span className="strong">{capitalized(rowsText(kind.faults))}</span>: {named(kind.param)}
                {kind.message}
              </li>
            ))}
          </ul>
          {reason === 'possible_duplicate' ? (
            <Button size="small" onClick={onMeant}>
              {meant ? tBatch('repeats_meant') : tBatch('repeats_mean')}
            </Button>
          ) : (
            <>
              <p>{tBatch('correct')}</p>
              <div className="row">
                {wrong.size < list.rows.length && (
                  <Button size="small" icon="download" onClick={() => save('payable')}>
                    {tBatch('payable', { rows: list.rows.length - wrong.size })}
                  </Button>
                )}
                <Button size="small" icon="download" onClick={() => save('wrong')}>
                  {tBatch('wrong', { size: wrong.size })}
                </Button>
              </div>
            </>
          )}
        </Notice>
      )}
    </>
  )
}

type Preview = Schemas['PaymentBatchPreview']
type Item = Preview['items'][number]
type PreviewProps = { list: BatchSheet; preview: Preview; meant: boolean; onMeant: () => void }

const maxShown = 20

/** Preview of a batch whose rows can all be paid. Asks once about possible duplicates. */
export const BatchPreview = ({ list, preview, meant, onMeant }: PreviewProps) => {
  const { items, currency } = preview
  const rowOf = (index: number | null) => list.rows[index ?? -1]?.number
  const known = items.filter(({ payee }) => payee === 'known').length
  const repeated = items.filter(({ looks_like: earlier }) => earlier !== null)
  const renamed = items.filter(({ given_name: given }) => given !== null)
  return (
    <>
      <Notice tone="good" title={tBatch('all_good')} live>
        <Facts
          facts={{
            [t('payments_label')]: t('payments', { count: preview.items_count }),
            [t('total')]: moneyText(preview.total_minor, currency),
            [tBatch('fees')]: feeWords(preview.total_minor, preview.fees_minor, currency),
            [tBatch('new_payees')]:
              preview.new_payees_count > 0 ? tBatch('new_payees.count', { new_payees_count: preview.new_payees_count }) : null,
            [tBatch('known_payees')]: known > 0 ? tBatch('known_payees.count', { count: known }) : null,
            [t('approval')]:
              preview.required_approvals > 0 ? tBatch('approvals', { count: preview.required_approvals }) : tBatch('not_needed'),
            [tBatch('look_at')]: warningsOfBatch(items, rowOf),
          }}
        />
      </Notice>
      {renamed.length > 0 && (
        <Notice tone="warn" title={tBatch('renamed', { count: renamed.length })} live>
          <NamedItems items={renamed}>
            {({ index, given_name: given, display_name: name }) => (
              <>{richBatch('renamed.row', { row: rowOf(index), bdi: <bdi>{given}</bdi>, bdi2: <bdi>{name}</bdi> })}</>
            )}
          </NamedItems>
        </Notice>
      )}
      {repeated.length > 0 && (
        <Notice tone="warn" title={tBatch('repeated', { count: repeated.length })} live>
          <NamedItems items={repeated}>
            {({ index, display_name: name, amount_minor: amount, looks_like: earlier }) => (
              <>
                {richBatch('repeated.row', {
                  row: rowOf(index),
                  bdi: <bdi>{name}</bdi>,
                  amount: moneyText(amount, currency),
                  what:
                    earlier && earlier.payment_id !== null ? (
                      <>
                        <Link href={`/payments/${earlier.payment_id}`}>{tBatch('repeated.paid')}</Link>{' '}
                        <Time at={earlier.created_at} />
                      </>
                    ) : (
                      tBatch('repeated.same', { row: rowOf(earlier?.index ?? null) ?? '' })
                    ),
                })}
              </>
            )}
          </NamedItems>
          <Button size="small" onClick={onMeant}>
            {meant ? tBatch('repeated.again') : tBatch('repeated.pay')}
          </Button>
        </Notice>
      )}
    </>
  )
}

const NamedItems = ({ items, children }: { items: readonly Item[]; children: (item: Item) => ReactNode }) => (
  <ul>
    {items.slice(0, maxShown).map((item) => (
      <li key={item.index}>{children(item)}</li>
    ))}
    {items.length > maxShown && <li>{tBatch('more', { items: items.length - maxShown })}</li>}
  </ul>
)
