"""English words that rules cannot recognise by shape: abbreviations, fused words, affixes, units."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TITLES = _words(
    "mr mrs ms mx dr drs prof rev fr hon pres gov sen sens rep reps gen lt col sgt maj capt cpt cmdr adm cpl"
    " pvt brig supt messrs mme mlle st sts ste mt ft"
)
"""Abbreviations before a name. The period after them hardly ever ends a sentence."""

BEFORE_NUMBERS = _words(
    "no nos p pp vol vols fig figs sec sect ch chap para art ext sc rs"
    " jan feb mar apr jun jul aug sep sept oct nov dec"
)
"""Abbreviations before a number: "No. 5", "Sept. 11". Before a capital they end the sentence."""

ABBREVIATIONS = _words(
    "inc corp co ltd bros assn assoc univ dept dist div intl natl govt mfg"
    " jr sr esq etc vs v cf viz al approx est esp incl excl misc attn tel ph fax appt max avg"
    " mon tue tues wed weds thu thur thurs fri sat sun"
    " ave blvd rd hwy pkwy apt bldg rm ed eds"
    " lb lbs oz hr hrs mins secs yr yrs wk wks mos qty pt pts doz gal"
    " ala ariz ark calif colo conn fla ga ind kan ky la md mass mich minn miss mont neb nev okla"
    " ore pa penn tenn tex va vt wash wis wyo"
    " que ont arr arrv conf info eg ie ps"
)
"""Further abbreviations that keep their period inside a sentence."""

CAPITALISED_ONLY = _words(
    "mar sun sat wed mon fri ind la pa miss mass wash ore penn tex va conn art"
    " co est max fax info ed rep gen st fig fr hon pres col sen mt ft sec dist ch para no"
)
"""Abbreviations that in lower case are just as likely words: "he sat." ends a sentence."""

PREFIXES = _words(
    "afro anti arch bi bio co counter cross cyber de e eco ex extra hyper infra intra"
    " macro mega meta micro mid mini mis mono multi neo non over para poly post pre pro proto pseudo psycho"
    " quasi re retro semi socio sub supra techno trans tri ultra un uni vice"
)
"""Prefixes that stay with their word across a hyphen: "e-mail", "co-workers". Other hyphens are split."""

SUFFIXES = _words("able aholic centric cracy cratic esque ette fest fold gate ish itis less most rama wise")
"""Suffixes that stay with their word across a hyphen."""

UNITS = _words(
    "k m b t p c f x mm cm km kg mg lb lbs oz ft yd mi mph kph kb mb gb tb hz khz mhz ghz kw kwh mw mwh hp"
    " am pm hr hrs min mins sec secs bn mn sq hh"
)
"""Units that are split from the preceding number: "5pm", "35mm", "$3M"."""

FUSED: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "cannot": (3,),
        "gonna": (3,),
        "wanna": (3,),
        "gotta": (3,),
        "outta": (3,),
        "gimme": (3,),
        "lemme": (3,),
        "dunno": (2, 3),
        "alot": (1,),
        "atleast": (2,),
        "aswell": (2,),
        "i'ma": (1, 3),
        "'tis": (2,),
        "'twas": (2,),
        "c'mon": (3,),
    }
)
"""Fused words and the offsets at which the treebank splits them."""

MAYBE_FUSED = _words("its Its ITS your Your")
"""Possessives that are often "it 's" and "you 're" without the apostrophe."""

AFTER_ITS = _words(
    "a an the this that these those my your his her our their not n't just really simply definitely probably"
    " still always never also been getting going gon like kind nothing something anyone everyone too quite"
    " absolutely actually called for in on at with from between to because if when what where why how"
    " i you he she we they it"
)
"""Words that never follow a possessive. Before them "its" or "your" means "it 's" or "you 're"."""

SENTENCE_OPENERS = _words(
    "the a an this that these those it he she we they i you there here my your his her our their its"
    " in on at for from with by of to as after before during despite according"
    " when while if but and or so yet however although since because what who where why how"
    " is are was were do does did have has had will would can could should no not please thanks thank"
    " one some many most all both each every another other such then now also"
)
"""Words that, capitalised after an abbreviation, begin a new sentence."""

BRANDS = _words("yahoo jeopardy")
"""Names that end in an exclamation mark."""

FILE_TYPES = _words(
    "doc docx xls xlsx csv ppt pptx pdf txt rtf htm html xml json yaml yml toml zip tar gz tgz rar"
    " exe dll msi url log bak cfg ini dat jpg jpeg gif png bmp tif tiff svg ico mp3"
    " mp4 wav avi mov mpg wmv flv py js java cpp hpp sh bat sql php asp aspx jsp css md tex eps"
)
"""File name extensions."""

TOP_DOMAINS = _words("com net org edu gov mil info biz io tv ly")
"""Top-level domains. No country codes: ".in", ".it", ".is" are words after a missing space."""

NEWSGROUPS = _words("alt comp misc rec sci soc humanities ba")
"""Usenet hierarchies."""
