import { shortcutsOn, switchShortcuts } from '../lib/choices.ts'
import { t } from '../lib/language.ts'
import { useStore } from '../lib/store.ts'
import { tPalette } from '../palette/texts.ts'
import { CheckField } from '../ui/field.tsx'
import { Dialog } from '../ui/form.tsx'
import { useNav } from './nav-items.tsx'

const further: readonly (readonly [keys: string, what: string])[] = [
  ['Ctrl K', tPalette('keys.search')],
  ['n', t('new_payment')],
  ['j', tPalette('keys.next')],
  ['k', tPalette('keys.previous')],
  ['x', tPalette('keys.select')],
  ['Enter', tPalette('keys.open')],
  ['a', tPalette('keys.approve')],
  ['r', tPalette('keys.reject')],
  ['?', t('shortcuts')],
]

const Keys = ({ keys }: { keys: string }) => (
  <span className="row row-tight">
    {keys.split(' ').map((key) => (
      <kbd key={key}>{key}</kbd>
    ))}
  </span>
)

export const ShortcutHelp = ({ onClose }: { onClose: () => void }) => {
  const on = useStore(shortcutsOn)
  const { all } = useNav()
  return (
    <Dialog title={t('shortcuts')} onClose={onClose}>
      <dl className="facts">
        {[
          ...further,
          ...all.map(({ keys, label }) => [keys, tPalette('keys.go_to', { label: label.toLowerCase() })] as const),
        ].flatMap(([keys, what]) => [
          <dt key={`${keys}-keys`}>
            <Keys keys={keys} />
          </dt>,
          <dd key={keys}>{what}</dd>,
        ])}
      </dl>
      <CheckField label={tPalette('keys.single')} value={on} onChange={switchShortcuts} />
    </Dialog>
  )
}
