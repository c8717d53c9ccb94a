import { useState } from 'react'
import { Button } from '../components/button.js'
import { Field } from '../components/fields.js'
import { Notice } from '../components/notice.js'
import { fragmentOf, type Shared } from './link.js'

/** Puts the program into the address of the page, and shows the address to be copied. */
export function Share({ shared, onMade }: { shared: Shared; onMade: (fragment: string) => void }) {
  const [link, setLink] = useState<{ text: string; isCopied: boolean } | 'too long' | null>(null)
  const make = async () => {
    const fragment = fragmentOf(shared)
    if (fragment === null) return setLink('too long')
    history.replaceState(history.state, '', `#${fragment}`)
    onMade(location.hash)
    const text = location.href
    // Browsers have a clipboard on https and loopback alone, and may refuse it.
    const isCopied = await (navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('none'))).then(
      () => true,
      () => false
    )
    setLink({ text, isCopied })
  }
  return (
    <>
      <Button onPress={() => void make()}>Make a link</Button>
      {link === 'too long' ? <Notice tone="warn">The program is too long for a link.</Notice> : null}
      {link !== null && link !== 'too long' ? (
        <Field
          label="Link to this program"
          value={link.text}
          isReadOnly
          help={`${link.isCopied ? 'Copied. ' : ''}It holds the program, the shots and the seed.`}
        />
      ) : null}
    </>
  )
}
