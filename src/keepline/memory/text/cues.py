"""Words that hint at what a sentence is, per language, as tables: a cue's name and what it looks like in plain form.

The tables say nothing of what follows from a cue; `features.py` counts them and a trained model weighs them.
"""

from __future__ import annotations

EN: dict[str, str] = {
    "permanence": r"from (?:now|here|this point|today|this moment)(?: on)?|going forward|going ahead"
    r"|in (?:the )?future|henceforth|by "
    r"default|as a rule|permanently|at all times|without exception|for good|no matter what|hereafter"
    r"|until i say|unless i (?:say|ask|tell)"
    r"|standing (?:rule|order|instruction)|house (?:rule|style)|ground rule|policy|in general|generally"
    r"|as standard|every time|each time",
    "always": r"always|every|each|whenever|any ?time|any(?:thing|one|where)?|all|everything|everyone|throughout"
    r"|consistently",
    "never": r"never|under no circumstances|not ever|ever again|at no point|on no account",
    "prohibit": r"don'?t|do not|must ?n'?t|must not|mustn'?t|can'?t have|cannot|no more|avoid|refrain|skip"
    r"|leave (?:out|off)|keep \w+ out|"
    r"keep (?:it|them|that|\w+ \w+) out|without|exclude|omit|stay away|steer clear|nothing (?:with|containing"
    r"|from|that)|stop (?:\w+ing)|"
    r"quit \w+ing|drop the|lay off|spare me|cut out",
    "banned": r"banned|forbidden|off[- ]limits|off the table|not allowed|isn'?t allowed|aren'?t allowed"
    r"|prohibited|out of the question|"
    r"no[- ]go|a no|is out|are out|not an option|deal ?breaker|against (?:the )?(?:rules|policy)|taboo"
    r"|not acceptable|won'?t do|isn'?t happening",
    "no_noun": r"^(?:and |also |so |oh |please |but )*no \w+|, no \w+|; no \w+",
    "must": r"must|has to|have to|needs? to|shall|should|ought to|got to|gotta|required?|requires|mandatory"
    r"|has got to|is to be|are to be",
    "ensure": r"make sure|ensure|be sure|see to it|check that|double[- ]check|remember to|don'?t forget|insist"
    r"|bear in mind|keep in mind",
    "only": r"only|solely|exclusively|strictly|nothing but|stick (?:to|with)|at most|no more than|at least"
    r"|max(?:imum)?|min(?:imum)?|"
    r"up to|under \d|below \d|within|limit(?:ed)?|cap(?:ped)?|budget|ceiling",
    "prefer": r"prefer|preferably|rather|i'?d like|i'?d love|i want|we want|i'?d sooner|favou?r|would like"
    r"|i like|we like|happier with|"
    r"works? best|better (?:for me|if)|i'?d appreciate|i need",
    "verb_keep": r"^(?:please |and |also |so |just |oh |but |ok |then )*(?:use|keep|reply|answer|respond|call"
    r"|treat|put|cite|format|spell|"
    r"round|quote|address|refer|assume|default|limit|sign|label|name|tag|mark|leave|skip|avoid|stick|stop"
    r"|remember|note|include|add|end|"
    r"start|begin|book|schedule|plan|default|count|express|state|flag|warn|ask|check|run|save|store|list|order"
    r"|sort|show|give|prefer|"
    r"send|write|tell|wait|let|make|take|get|go|never|always|no|only|don'?t|do not)\b",
    "verb_once": r"^(?:please |and |also |so |just |oh |but |ok |hey |hi |then )*(?:write|draft|translate"
    r"|summari[sz]e|explain|fix|help|find|"
    r"describe|compare|rewrite|proofread|generate|create|suggest|recommend|calculate|convert|debug|review|read"
    r"|tell me|show me|give me|"
    r"make me|look up|search|can you|could you|would you|will you|what|how|who|let'?s)\b",
    "asks": r"(?:can|could|would|will) (?:you|we|i)|help me|give me|tell me|show me|write me|do you|did you"
    r"|are you|have you|is there|any idea",
    "reply": r"repl(?:y|ies|ying)|answers?|respon(?:d|se|ses)|outputs?|suggest(?:ions?|ing)?"
    r"|recommend(?:ations?|ing)?|drafts?|summar(?:y|ies)|"
    r"e-?mails?|messages?|reports?|code|plans?|recipes?|menus?|itinerar(?:y|ies)|documents?|spreadsheets?"
    r"|tables?|lists?",
    "style": r"bullets?|emojis?|tone|formal|casual|concise|short|brief|jargon|markdown|spelling|units?|metric"
    r"|imperial|celsius|fahrenheit|"
    r"kilomet(?:er|re)s|kilos?|pounds|miles|format|font|sentences?|words|paragraphs?|language|english|spanish"
    r"|french|german|chinese|date|"
    r"24[- ]hour|time ?zone|currency|decimal|heading|capital|swear|sarcas|exclamation|first name|surname"
    r"|nickname|pronouns?",
    "me_want": r"(?:for|to|with|at|on|about|by|from) me|for us|to us|my|mine|our|ours",
    "i_am": r"i'?m|i am|we'?re|we are|i'?ve been|i was born|i was diagnosed",
    "i_have": r"i have|i'?ve got|i got|we have|we'?ve got|i own|i keep|i use|i take|i drive|i wear|i run"
    r"|i teach|i study|i speak|i work|i live|"
    r"we live|i rent|we use|we run|i weigh|i stand|i belong|i follow|i play|i bank",
    "i_not": r"i (?:don'?t|do not|can'?t|cannot|can not|won'?t|never|hate|dislike|refuse|avoid) ?(?:eat|drink"
    r"|do|use|want|like|take|touch|have|"
    r"read|work|fly|drive|see|hear|stand)?",
    "my_is": r"(?:my|our) (?:\w+[' ]?s? ?){1,4}(?:is|are|was|lives?|works?|has|comes?|runs?|goes|=)|(?:my"
    r"|our) \w+ \w*'s",
    "called": r"named|called|name is|name'?s|goes by|known as|birthday|born|anniversary|maiden",
    "health": r"allerg\w*|intoleran\w*|diabet\w*|c(?:o)?eliac|asthma\w*|pregnan\w*|vegan|vegetarian|pescatarian"
    r"|halal|kosher|blood type|"
    r"epilep\w*|deaf|blind|disab\w*|medication|insulin|pacemaker|anaphyla\w*|dyslexi\w*|autis\w*|adhd"
    r"|migraines?|arthritis|wheelchair|"
    r"hearing aid|prescription|chronic|diagnos\w*|surgery|gluten|lactose|nuts?|shellfish|penicillin"
    r"|doctor'?s orders|mg|dose",
    "family": r"wife|husband|son|sons|daughters?|kids?|child(?:ren)?|baby|mother|father|mum|mom|dad|brother"
    r"|sister|partner|fianc\w+|parents?|"
    r"grand\w+|niece|nephew|twins?|dog|cat|puppy|kitten|aunt|uncle|in-laws?|girlfriend|boyfriend|roommate|flatmate",
    "directive_me": r"(?:don'?t|do not|never|stop|please|always|just|no need to|keep|avoid|let'?s not|quit"
    r"|bear in mind|remember|mind that)\b"
    r".{0,40}\b(?:me|my|us|our|i|i'm|i'll|i've)",
    "comfort": r"don'?t (?:worry|be (?:so |too )?\w+|give up|forget to|overthink|stress|sweat|mind|lose"
    r"|get me wrong|you)|never give up|take care"
    r"|keep (?:going|it up|pushing|up|shining|me posted|in touch)|hang in there|good luck|stay (?:strong"
    r"|positive|safe)|be gentle|no worries"
    r"|let me know|feel free|you've got this|you got this|here for you|proud of you",
    "if_then": r"^(?:and |so |but |please )?(?:if|when|whenever|before|after|unless|any ?time|every time|once"
    r"|for any|for every|in any|in every)\b.{3,70}"
    r"(?:,| then|;) ?(?:please |just |always |never |only |then |you )?(?:use|say|tell|ask|put|give|add|make"
    r"|send|call|write|don'?t|do|check|keep"
    r"|start|warn|let|leave|skip|include|treat|flag|reply|answer|show|point|remind|go|stop|run|note|mark|list"
    r"|cite|must|should|need|have)",
    "explain_as": r"like i'?m|as if i|as though i|the way (?:i|you|we)|in a way|for a (?:beginner|layman|child)"
    r"|at (?:my|a) level|year \d|i learn|for beginners",
    "others": r"colleagues?|co-?workers?|boss|uncle|aunt(?:ie)?|cousin|neighbou?r|roommate|flatmate|(?:a"
    r"|my) (?:friend|buddy|mate)|intern"
    r"|classmate|old teacher|his|her|their|acquaintance|in-law",
    "event": r"workshop|conference|seminar|tournament|match|festival|concert|exhibition|course|webinar|summit"
    r"|meetup|retreat|screening"
    r"|book|novel|series|movie|film|season|episode|game|character|album|song",
    "hobby": r"hobb(?:y|ies)|fan of|into|obsessed|favou?rite|love (?:to|the|a|\w+ing)|enjoy\w*|passion\w*"
    r"|i like (?:to|the|\w+ing)|interested in"
    r"|reading|playing|watching|painting|hiking|running|cooking|drawing|writing|listening",
    "plan": r"going to|gonna|plan(?:ning)? (?:to|on|a)|thinking (?:of|about)|hoping to|want to|wanna"
    r"|can'?t wait|looking forward|let'?s"
    r"|we (?:could|should|can)|i'?ll|i should|i might|might",
    "work": r"job|company|team|client|manager|boss|office|shift|project|repo|branch|production|staging"
    r"|deploy\w*|pr|prs|database|server|api|"
    r"school|university|class|teacher|student|degree|exam|thesis|business|shop|store|warehouse|invoice|supplier"
    r"|customer",
    "id_word": r"number|no\.|id|code|account|reference|ref|policy|member(?:ship)?|passport|licen[cs]e|plate"
    r"|serial|pin|iban|order|booking|"
    r"ticket|gate code|postcode|zip|address|phone|extension|e-?mail|username|vat|tax|sort code|confirmation|case",
    "place": r"live (?:in|at|on|near)|based in|moved to|street|road|avenue|lane|flat|apartment|floor|suite"
    r"|postcode|address|from [a-z]+ originally",
    "now": r"today|yesterday|tonight|this (?:morning|afternoon|evening|week|weekend|month|time|one)|just (?:now"
    r"|got|had|back|finished|saw|"
    r"woke|ate|been)|right now|at the moment|currently|last (?:night|week|weekend|month)|earlier|on my way|ago"
    r"|tomorrow|atm|for now|still|"
    r"so far|this minute|next (?:week|weekend|month)",
    "past": r"went|had|was|were|saw|made|took|came|bought|ate|got|did|said|told|felt|found|lost|left|woke|slept"
    r"|watched|forgot|spent|met|"
    r"finished|started|tried|called|missed|broke|\w{3,}ed",
    "question_word": r"^(?:so |and |but |ok |hey |hi |um |well |then )*(?:what|how|why|who|whom|where|when"
    r"|which|whose|is|are|was|were|do|does|did|"
    r"can|could|would|will|should|have|has|had|am|may|might|shall|don'?t|doesn'?t|isn'?t|aren'?t|wouldn'?t)\b",
    "tag_question": r"(?:right|isn'?t it|don'?t you|aren'?t they|you know|eh|huh|innit|or not|or what"
    r"|or something)\W*$",
    "suppose": r"if (?:i|you|we|they|he|she|it|only|the|someone|somebody|my|a)|imagine|suppose|pretend|what if"
    r"|would have|could have|should have|"
    r"hypothetical\w*|in theory|let'?s say|say i|were to|as if|unless",
    "wish": r"i wish|hope|hopefully|would be (?:nice|great|lovely|cool)|can'?t wait|dream|looking forward"
    r"|fingers crossed|someday|one day",
    "joke": r"lol|haha\w*|hehe|lmao|rofl|kidding|joking|joke|jk|funny|hilarious|xd|ha",
    "hedge": r"maybe|perhaps|might|probably|i think|i guess|i suppose|not sure|possibly|thinking (?:of|about)"
    r"|considering|i wonder|seems?|"
    r"kind of|sort of|apparently|dunno|idk|i feel like|could be|must (?:be|have)",
    "says": r"said|says|told|wrote|according to|reads|claims?|quotes?|heard|mentioned|asked|announced|article"
    r"|meme|movie|song|lyrics?|headline|"
    r"poster|the sign|sentence|phrase|word|line|grammar|novel|character|story|quote",
    "third": r"he|she|they|him|her|them|his|their|people|everybody|everyone|someone|somebody|those|kids these days",
    "you": r"you|your|yours|you'?re|u|ur|yourself",
    "it_start": r"^(?:it|that|this|there|those|these|the|a|an)\b",
    "because": r"because|since|so that|cause|as i|given that|so|otherwise|or else|in case|due to|that'?s why",
    "greet": r"^(?:hi+|hey+|hello+|hiya|yo|howdy|good (?:morning|afternoon|evening|day|night)|morning|evening"
    r"|greetings|gm|sup|hey there|"
    r"what'?s up|how are you|how'?s it going|nice to meet you|g'?day)\b",
    "thanks": r"thanks?|thx|ty|cheers|ta|appreciate(?:d)?|thank (?:you|u)|much obliged|you'?re (?:a star"
    r"|the best|welcome)|lifesaver",
    "bye": r"bye|goodbye|see (?:you|ya)|good night|take care|cya|later|ttyl|talk (?:soon|later)|have a (?:good"
    r"|nice|great)|sleep well|night",
    "ack": r"^(?:ok(?:ay)?|k+|sure|yes|yep|yeah|no|nope|right|cool|great|nice|perfect|got it|alright|fine"
    r"|fair enough|makes sense|i see|"
    r"understood|sounds good|mm+|hm+|oh|ah|wow|true|indeed|exactly|agreed|lol|noted|awesome|good)\b",
    "feeling": r"wow|omg|love|loved|amazing|awesome|great|sounds|congrat\w*|glad|happy|sorry|nice|cool|excited"
    r"|proud|sad|tired|miss|beautiful|"
    r"fun|lovely|wonderful|awful|terrible|annoying|hate|crazy|weird|scared|lonely|stressed|bored|ugh|gosh|god|yay|aww",
    "withdraw": r"no longer|not any ?more|any ?more|scrap|drop|forget (?:the|about|what|that|my|it)"
    r"|ignore (?:the|what|my|that)|disregard|cancel|"
    r"lift(?:ed)?|undo|take back|i take that back|back to|go back|revert|no need|needn'?t|don'?t (?:have"
    r"|need) to|doesn'?t (?:apply|matter|count)|"
    r"rule is (?:off|gone|out|over|dead)|(?:is|are) (?:off|gone|over|history)|dropped|retire[ds]?|lose the"
    r"|off the list|you can stop",
    "allow_again": r"again|(?:is|are|it'?s|that'?s) (?:ok|okay|fine|allowed|good)(?: now| again| after all)?"
    r"|you (?:can|may) (?:now )?|feel free|"
    r"allowed|now fine|fine now|okay now|don'?t mind|after all|welcome|you'?re free to|free to|back on|never ?mind",
    "replace": r"instead|rather than|now|changed?|switch(?:ed)?|moved|replaced?|updated?|correction|actually"
    r"|scratch that|make (?:it|that)|i meant|"
    r"from \w+ to|new|not \w+[,;.]? ?but|is now|has become|went up|went down|raised|lowered|renamed|no longer|wrong",
    "limit_time": r"until|till|'?til|through|only for|just for|for the (?:next|rest|time being|duration)"
    r"|this week only|except|apart from|expires?|"
    r"ends? (?:on|in|at)|while|during|for (?:a|one|two|three|\d+) (?:days?|weeks?|months?)|starting|as of"
    r"|after (?:that|the)|up until|temporar\w+",
    "earlier_rule": r"(?:the|that|my) (?:\w+ ){0,3}(?:rule|limit|ban|restriction|preference|thing|requirement"
    r"|request|instruction|policy|cap|"
    r"business|stuff|diet|format)|what i said|i (?:said|told you|asked)|earlier|before|previously|used to"
    r"|originally|old",
}

ZH: dict[str, str] = {
    "permanence": r"以后|今后|往后|从今|从现在起|从今天起|从此|日后|将来|下次|默认|长期|永久|一直|为准|规矩"
    r"|惯例|老规矩|除非我|照例|统一|一律|一概|凡是|凡|历来",
    "always": r"每次|每回|每当|每天|每个|每条|每篇|每|总是|始终|永远|统统|全部|所有|任何|都|只要|随时|平时|无论"
    r"|不管|不论|全程|通通|各|随便哪|遇到|碰上|但凡",
    "never": r"从不|从来不|从来没|绝不|绝对不|决不|永不|永远不|千万|坚决|打死|死活|再也不|万万|切勿|切忌",
    "prohibit": r"不要|别|勿|禁止|不许|不准|不得|不能|不可|不用|避免|少|杜绝|不接受|不想|拒绝|戒|忌|排除|跳过"
    r"|去掉|拿掉|绕开|避开|免|不必|休想|甭|不写|不发|不带|不加|不放|不提|不碰",
    "banned": r"禁|不行|不允许|犯忌讳|免谈|没门|不考虑|不合适|过不了|出局|拉黑|违规|受不了|不收|不认|不算数"
    r"|不兴|不让|没得商量|不成",
    "no_noun": r"^(?:也|还|另外|那|就)?(?:不|别|无|没|零)[^，,]{1,8}$",
    "must": r"必须|务必|一定|得|须|应该|应当|需要|需|要|理应|不得不|应|该|非得|强制",
    "ensure": r"确保|保证|记得|记住|注意|切记|牢记|别忘|提醒|留意|谨记|记一下|记着|记好|说好|讲好|当心",
    "only": r"只|仅|光|就行|就好|即可|优先|限|以内|以下|不超过|最多|至少|上限|封顶|控制在|顶多|不低于|之内|为止"
    r"|认准|首选|专",
    "prefer": r"我喜欢|更喜欢|偏好|希望|宁愿|宁可|最好|倾向|习惯|我要|我想要|比较喜欢|偏爱|爱用|尽量|我不喜欢"
    r"|讨厌|不爱|嫌|反感|受用",
    "verb_keep": r"^(?:请|麻烦|拜托|那|就|以后|还有|另外|你|都|也)*(?:用|按|写|回复|回答|称呼|叫我|给我|把|保持"
    r"|统一|默认|列|标|附|加|带|先|留|放|算|换成|换算|输出|讲|说|推荐|订|提醒|安排|报|填|看|发|走|以)",
    "verb_once": r"^(?:请|麻烦|拜托|那|就|你|再|能不能|可以)*(?:帮我|给我|替我|写一|讲个|讲讲|说说|来个|来一"
    r"|翻译|润色|总结|解释|介绍|推荐|查|算一|看看|看下|列一|做个|做一|生成|想个|起个|改|教我|分析|比较|陪我)",
    "asks": r"帮我|帮忙|给我|能不能|可不可以|可以吗|能否|要不要|有没有|是不是|会不会|你觉得|你说|怎么|哪里|哪个"
    r"|请问|行吗|好吗|对吗",
    "reply": r"回复|回答|答案|回我|输出|推荐|建议|邮件|消息|报告|代码|方案|菜谱|食谱|菜单|行程|文档|表格|清单"
    r"|文案|周报|日报|汇报|翻译|总结|攻略|计划|合同|发票|短信|微信|文章|稿子|注释",
    "style": r"表情|语气|简短|简洁|口语|正式|术语|格式|分点|列点|条列|字数|单位|公制|摄氏|华氏|公里|公斤|人民币"
    r"|美元|繁体|简体|英文|中文|粤语|方言|敬语|称呼|昵称|全名|日期|小数|标点|感叹号|标题|加粗|段落|例子|时区"
    r"|大写|小写|缩进|命名",
    "me_want": r"我的|给我|跟我|对我|为我|帮我|替我|我们的|咱|我家|我们家|俺|本人|自家|家里|我这|我们这|我那",
    "i_am": r"我是|我叫|我姓|我属|我今年|本人是|我们是|我从小|我出生|我来自|我老家|我信|我身高|我体重|我血型"
    r"|我得了|我患",
    "i_have": r"我有|我在|我住|我用|我开|我养|我家有|家里有|我们有|我带|我教|我学|我读|我做|我吃|我戴|我每"
    r"|我们用|我们家|我从事|我负责|我考|我会",
    "i_not": r"我不(?:吃|喝|能|要|想|用|会|看|接|抽|坐|爱|碰|喜欢|习惯|收|开|玩|信|懂|敢)?|我没(?:有)?|我从不"
    r"|我对.{1,8}过敏|我受不了|我讨厌|我忌",
    "my_is": r"(?:我|我们|咱|我家|家里)(?:的)?.{1,10}(?:是|叫|在|有|住|姓|号|属|今年|岁|做|为|读|上)",
    "called": r"名字|叫做|姓|名叫|小名|大名|生日|出生|属[鼠牛虎兔龙蛇马羊猴鸡狗猪]|岁|纪念日|生于",
    "health": r"过敏|糖尿病|高血压|血压|哮喘|怀孕|孕期|素食|吃素|清真|忌口|血型|癫痫|色盲|色弱|近视|听力|残疾"
    r"|用药|服药|吃药|胰岛素|起搏器|乳糖|麸质|花生|海鲜|青霉素|手术|病|痛风|胃|心脏|抑郁|焦虑症|医嘱|药",
    "family": r"老婆|老公|妻子|丈夫|太太|先生|儿子|女儿|孩子|娃|闺女|妈|爸|父|母|奶奶|爷爷|外婆|姥|哥|姐|弟|妹"
    r"|爱人|对象|男友|女友|男朋友|女朋友|猫|狗|宝宝|宝贝|双胞胎|婆婆|岳|舅|姑|叔|侄",
    "directive_me": r"(?:别|不要|不许|不准|请勿|少|勿|甭|莫|唔好|不必).{0,4}(?:给|拿|把|叫|对|跟|让|和|在|往|替"
    r"|帮|向|当).{0,3}(?:我|俺|咱)|(?:别|不要|不许|少|甭)"
    r".{0,2}(?:我|咱)|(?:给|跟|对|叫|和|陪|替|为|帮)我.{0,12}(?:别|不要|少|都|一律|必须|控制|为准|就行|就好|算)"
    r"|我.{0,10}(?:别|不要).{1,8}我",
    "comfort": r"别担心|别灰心|别难过|别怕|别着急|别急|别哭|别放弃|不要放弃|不要灰心|别生气|别客气|不客气"
    r"|不用谢|别介意|加油|相信你|坚持|保重|注意安全|照顾好"
    r"|没关系|别误会|别闹|别提了|别说了|不要紧|不要脸|要学会|我们要|我们应该|大家要|一起努力|支持你|陪着你|祝你|恭喜",
    "if_then": r"(?:的时候|时候|时|如果|要是|凡|每次|每回|遇到|碰到|碰上|只要|涉及|提到|说到|讲到|以后|今后"
    r"|之前|之后|写完|做完).{0,16}(?:先|就|要|别|不要|请|得|用|写|给|都|一律|必须"
    r"|务必|记得|提醒|直接|统一|叫|按|标|附|放|加)",
    "explain_as": r"当我是|把我当|像对|按.{1,6}(?:水平|来讲|来说|的程度)|听得懂|看得懂|看得完|看得清|分不出"
    r"|念不了|读不了|小白|初学|零基础|才看得|才听得",
    "others": r"同事|上司|下属|领导|叔叔|叔|婶|伯|舅|姨|姑|表[哥姐弟妹]|堂[哥姐弟妹]|侄|外甥|邻居|室友|舍友"
    r"|朋友|同学|同桌|老板|经理|主管|实习生|前台|她[的姐妹]|他[的姐妹哥]",
    "event": r"研讨会|论坛|沙龙|峰会|比赛|活动|展会|交流会|大会|招聘会|晚会|演唱会|音乐会|挑战赛|培训|训练营"
    r"|盛典|盛宴|节目|电影|小说|剧|书|游戏|角色|歌|专辑|之旅|的规模|的地点|的主题|主要内容",
    "hobby": r"喜欢|爱好|兴趣|迷上|热爱|最爱|享受|着迷|收集|偶像|看书|画画|唱歌|跳舞|旅行|旅游|爬山|跑步|游泳"
    r"|摄影|做饭|阅读|弹|乐器|下棋|钓鱼",
    "plan": r"打算|计划|准备|想去|想要|想学|想试|将要|即将|下次|以后想|等我|有机会|希望能|报名|参加|考虑|要去"
    r"|会努力|试试",
    "work": r"公司|团队|客户|经理|老板|领导|办公室|项目|仓库|分支|线上|生产|上线|部署|接口|数据库|服务器|学校"
    r"|大学|专业|老师|班|考试|论文|店|供应商|部门|同事|我司|甲方|工地|单位|值班",
    "id_word": r"号码|编号|卡号|单号|账号|账户|工号|学号|会员|护照|身份证|车牌|手机号|电话|地址|邮箱|密码|门牌"
    r"|邮编|税号|型号|序列号|订单|预订|航班|车次|房号|号是|尾号|门禁|微信号|抬头|合同号|版本",
    "place": r"住在|家在|搬到|老家|路|街|小区|栋|单元|室|楼|号院|村|区|市|省|镇",
    "now": r"今天|昨天|今晚|昨晚|今早|早上|刚才|刚刚|刚|现在|这会儿|正在|目前|明天|明早|后天|这周|周末|上周"
    r"|这次|这回|待会|马上|一会|最近|眼下|暂时|前天|中午|下午|今儿|昨儿|上午|晚上|这两天|半夜",
    "past": r"了[。！，,~…\s]|了$|过了|去了|吃了|买了|看了|到了|掉了|完了|上了|下了|来了|没了|坏了|丢了|忘了"
    r"|终于|结果|居然|差点|又",
    "question_word": r"什么|怎么|为什么|哪|谁|几|多少|吗|呢|咋|啥|如何|难道|何时|多久|多大|是否|有没有|是不是"
    r"|能不能|要不要|会不会|好不好|行不行|可不可以|该不该",
    "tag_question": r"(?:吗|呢|吧|么|不|没|对吧|是吧|好不好|行不行|嘛|啊)[?？!！~。]*$",
    "suppose": r"如果|假如|假设|要是|万一|比如|倘若|若是|即使|就算|哪怕|要不是|若|除非|假装|设想|一旦|的话",
    "wish": r"希望|但愿|要是能|好想|想要|期待|梦想|祝|愿|盼|多好|想去|打算|恨不得",
    "joke": r"哈哈|嘿嘿|嘻嘻|开玩笑|逗你|笑死|狗头|233|hh|lol|呵呵|玩笑|段子|梗",
    "hedge": r"可能|也许|大概|或许|好像|似乎|应该是|估计|感觉|觉得|不确定|说不定|听说|据说|不知道|想着|考虑"
    r"|恐怕|差不多|一定是|肯定是|必须的|不一定|看来",
    "says": r"说过|说道|写着|写道|表示|认为|声称|新闻|文章|电影|歌词|台词|标题|这句话|这句|那句|原文|书里|书上"
    r"|小说|网上|广告|通知|海报|课文|段子|老话|俗话|成语|诗|造句|规定|告示|说“|说「|说\"",
    "third": r"他|她|它|他们|她们|别人|人家|人们|大家|有人|有些人|年轻人|谁都|老板说|老师说|医生说",
    "you": r"你|您|妳",
    "it_start": r"^(?:这|那|它|真|好|太|有|原来|其实|没想到|果然|怪不得|难怪)",
    "because": r"因为|所以|不然|否则|免得|省得|以免|毕竟|由于|既然|为了|怕|好让|的缘故",
    "greet": r"^(?:你好|您好|哈喽|嗨|hi|hello|早上好|早安|早啊|早|下午好|中午好|晚上好|晚安|在吗|在不|在么"
    r"|好久不见|初次|喂|hey|嘿)",
    "thanks": r"谢谢|多谢|感谢|谢了|辛苦了|谢啦|太感谢|劳驾|有劳|唔该|多得|thx|thanks|爱你|比心|给力|厉害了|太棒了",
    "bye": r"再见|拜拜|晚安|回头见|明天见|回聊|下次聊|先这样|撤了|下线|溜了|去睡|周末愉快|回头聊|改天聊|88|告辞",
    "ack": r"^(?:好的?|嗯+|哦+|行|可以|收到|明白|知道了?|了解|懂了?|ok|对+|是的?|没错|没事|好嘞|好滴|得嘞"
    r"|没问题|哈+|嘿+|啊+|原来如此|同意|确实|也是|不用了)",
    "feeling": r"开心|高兴|难过|伤心|累|烦|喜欢|爱|想你|孤独|寂寞|害怕|担心|生气|委屈|感动|幸福|哭|笑|太好了"
    r"|真好|真棒|可爱|漂亮|厉害|好吃|好看|舒服|讨厌|恨|难受|心情|好美|心疼|郁闷|绝了|呜",
    "withdraw": r"不用再|不必再|不再|取消|作废|算了|撤销|撤回|收回|忘掉|忘了(?:那|之前|我)|当我没说|不用管"
    r"|不用了|不作数|不算数|解除|恢复|停用|没必要|不需要|删掉|去掉|拿掉|免了|放开|松口|失效|到头|翻篇|别管"
    r"|不管了|不守|不限|随便|随意|不讲究",
    "allow_again": r"可以(?:再|重新|继续|用|放|吃|加|说|推荐|发|给|叫|提|写)?.{0,8}了|又可以|能.{1,8}了"
    r"|没关系了|无所谓|都行|都可以|不介意|可以了|行了|好了|允许|尽管|照常|想.{1,4}就|也行|也可以|没事了|敞开"
    r"|不忌|不用忌",
    "replace": r"改成|改为|改到|改用|改走|换成|换到|换了|变成|调整|更新|更正|改一下|搬到|搬离|搬家|现在是"
    r"|现在住|现在用|现在|新的|不是.{1,12}(?:是|而是)|不叫|改叫|升到|降到|提到|涨到|放宽|收紧|转到|纠正|说错"
    r"|写错|记错|不对|弄错|变了|而是|改",
    "limit_time": r"到.{1,8}为止|只到|截至|截止|直到|之前|以前|期间|只在|只限|除了|除外|例外|这周|这个月|本周"
    r"|本月|有效期|到期|暂时|先.{1,6}再|等.{1,8}(?:再|就)|只针对|仅限|仅|这段时间|过后|之后|以内|月底"
    r"|周[一二三四五六日天]|礼拜|不包括",
    "earlier_rule": r"之前说|之前|以前|原来|先前|上次|刚才|我说过|说过|那条|那个(?:规矩|要求|限制|约定|事|话)"
    r"|那件事|那项|规矩|要求|限制|约定|那个.{1,8}的|的事|的限制|的规矩|的要求|这条|这个规矩|的话",
}

SHAPES: dict[str, str] = {
    "id_shape": r"(?=[a-z0-9-]*\d)(?=[a-z0-9-]*[a-z-])[a-z0-9]+(?:[-/][a-z0-9]+)+"
    r"|(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{5,}|[a-z]{1,4}\d{2,}|\d{5,}|#\d+",
    "contact": r"[\w.+-]+@[\w-]+\.\w+|https?://\S+|www\.\S+|\+?\d[\d ()-]{7,}\d|@\w{3,}",
    "clock": r"\d{1,2}[:：]\d\d|\d{1,2} ?(?:am|pm)\b|\d{1,2}点|[一二三四五六七八九十]{1,3}点",
    "day": r"\d{1,4}[-/年.]\d{1,2}[-/月.]?(?:\d{1,2})?|\d{1,2}月|\d{1,2}(?:st|nd|rd|th)\b|(?:jan|feb|mar|apr"
    r"|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d|"
    r"\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|(?:周|星期|礼拜)[一二三四五六日天]",
    "amount": r"[$€£¥￥]\s?\d|\d[\d,.]* ?(?:%|usd|eur|gbp|dollars?|euros?|pounds?|quid|bucks|k\b|kg|km|cm|mm|ml"
    r"|mg|lbs?|g\b|块|元|万|斤|公斤|公里|米|度|岁|个|次|天|人|分|页|字)",
    "number": r"\d",
    "number_word": r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty"
    r"|forty|fifty|hundred|thousand)\b|[一二两三四五六七八九十百千万]{1,4}[个条次天句字块元斤岁点人页分行步种]",
    "capital_code": r"```|[{}<>;=]{2,}|\w+\(\)|\w+_\w+|\w+\.\w{2,4}\b|=>|::|\\n",
}
