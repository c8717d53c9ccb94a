// Markdown of users as elements, never as HTML: no script, no style, no image and no request to another site.
import type { ComponentProps } from 'react'
import Markdown from 'react-markdown'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import own from '../capsules.module.css'

/** GitHub's rules without pictures, which a browser would fetch, and without inputs but those of task lists. */
const schema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => !['img', 'picture', 'source'].includes(name)),
  protocols: { href: ['http', 'https', 'mailto'] }
}

/** An address that is not one of these, such as `javascript:`, is dropped by the sanitiser. */
const link = ({ node: _, children, href, title }: ComponentProps<'a'> & { node?: unknown }) => (
  <a href={href} title={title} rel="nofollow noopener noreferrer ugc">
    {children}
  </a>
)

/** A picture is shown as the words that stand for it. */
const picture = ({ alt }: ComponentProps<'img'>) => <span>{alt}</span>

/** Of a list of tasks. */
const box = ({ checked }: ComponentProps<'input'>) => <span>{checked ? '☑ ' : '☐ '}</span>

/** The page has its own title, so those of the text begin a step lower. */
const components = {
  a: link,
  img: picture,
  input: box,
  h1: 'h3',
  h2: 'h4',
  h3: 'h5',
  h4: 'h6',
  h5: 'h6',
  h6: 'h6'
} as const

export const Readme = ({ text }: { text: string }) => (
  <div className={own.readme}>
    <Markdown skipHtml remarkPlugins={[remarkGfm]} rehypePlugins={[[rehypeSanitize, schema]]} components={components}>
      {text}
    </Markdown>
  </div>
)
