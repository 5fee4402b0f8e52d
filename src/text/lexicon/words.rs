//! The word lists.

/// From the most common down: function words, then three bands of everyday words.
pub(super) const BANDS: [&str; 4] = [
    // Function words: English; German, French, Spanish, Italian, Portuguese, Dutch.
    "a an and are as at be been being but by for from had has have having he her hers him his i if in into is it its \
     me my of on or our ours she so than that the their theirs them then there these they this those to too was we \
     were what when where which who whom whose will with you your yours do does did doing can could should would \
     just also am us about after all any because before between both during each more most other out over own same \
     some such through under until up very while how why again further once here only off down above below against \
     der die das ein eine einen einem einer und oder ist sind war im in zu mit von auf für den dem des sich auch es \
     ich wir sie er nicht wie bei aus nach le la les un une des du de et ou est sont dans pour par sur avec que qui \
     ce cette il elle nous vous au aux el los las una y o es son en por para con se su lo al como más di che non per \
     del della com um uma não os as do da em het een van",
    "time year people way day man new good first last long great little own old right big high different small large \
     next early young important few public bad able go get make know think take see come want look use find give tell \
     work call try ask need feel become leave put mean keep let begin seem help show hear play run move like live \
     believe hold bring happen write provide sit stand lose pay meet include continue set learn change lead \
     understand watch follow stop create speak read allow add spend grow open walk win offer remember love consider \
     appear buy wait serve die send expect build stay fall cut reach kill remain say one two three four five six \
     seven eight nine ten thing world life hand part child eye woman place week case point government company \
     number group problem fact now well even back still much many really always often today week month home another \
     every never something nothing since without around among within however though although already yet almost \
     enough quite rather perhaps maybe got made said told went came took used using according per via not no",
    "file code test line name list data user value error type function class method system project page server \
     message text key state version information question answer night money story lot study book word business \
     issue side kind head house service friend father power hour game end member law car city community president \
     team minute idea body face level office door health person art war history party result morning reason research \
     girl guy moment air teacher force education foot boy age policy music market sense nation plan college interest \
     death experience effect class control field development role effort rate heart drug show leader light voice \
     wife police mind price report decision son view relationship town road arm difference value building action \
     season society tax director position player record paper space ground form event official matter center couple \
     site activity star table need court oil situation cost industry figure street image phone picture practice \
     piece land product doctor wall patient worker news movie north south east west national american british \
     local political social real best better sure clear full free able human late hard major possible likely available \
     current single third second half several whole common similar certain special particular recent personal final \
     main total additional simple short low strong true false ready update check start run call return fix remove \
     support request option default set process order example local command output input build deploy branch commit",
    "implement install configure config setting environment production staging database table column query index \
     container image cluster node network port host address token secret access permission account password login \
     session thread queue worker job task step stage phase release package module library dependency script shell \
     terminal folder directory path repository merge pull push review comment document documentation readme \
     format string number integer array object field property parameter argument variable constant event handler \
     callback hook plugin component interface api endpoint response header body status log debug trace warning \
     exception failure crash bug patch feature requirement design architecture pattern approach solution strategy \
     performance memory cache disk cpu latency timeout limit size count length width height color font style layout \
     button screen window dialog menu tab icon click select model training dataset metric score accuracy \
     minister election campaign vote prime london england manchester united league club match goal cup champion \
     police arrest suspect charge trial judge prison crime murder victim injured injury hospital attack killed \
     family mother father daughter brother sister husband parent baby school student university",
];

/// Families of one word, its base form first.
pub(super) const IRREGULAR: &str = "go went gone,say said,make made,write wrote written,child children,buy bought,take took taken,come came,\
get got gotten,give gave given,see saw seen,know knew known,find found,tell told,think thought,leave left,feel felt,\
keep kept,begin began begun,bring brought,hold held,run ran,build built,send sent,spend spent,lose lost,pay paid,\
meet met,win won,sit sat,stand stood,speak spoke spoken,grow grew grown,fall fell fallen,drive drove driven,\
break broke broken,choose chose chosen,eat ate eaten,fly flew flown,forget forgot forgotten,hide hid hidden,\
rise rose risen,sell sold,shoot shot,sing sang sung,sleep slept,steal stole stolen,strike struck,swim swam swum,\
teach taught,throw threw thrown,wake woke woken,wear wore worn,catch caught,draw drew drawn,drink drank drunk,\
fight fought,hang hung,lead led,lie lay lain,mean meant,ride rode ridden,seek sought,shake shook shaken,\
understand understood,become became,show shown,bear bore born,freeze froze frozen,hear heard,deal dealt,\
feed fed,flee fled,bind bound,bleed bled,breed bred,cling clung,creep crept,dig dug,do did done,have had has,\
be was were been is are am being,man men,woman women,person people,foot feet,tooth teeth,mouse mice,life lives,\
wife wives,good better best,bad worse worst,index indices,criterion criteria,analysis analyses,basis bases,\
die dead death,marry marriage,overwrite overwrote overwritten,rewrite rewrote rewritten,rebuild rebuilt,undo undone undid,agree agreed agreement";

/// Groups of words with nearly the same meaning: number words, demonyms, newswire and engineering.
pub(super) const SYNONYMS: &str = "one 1 single,two 2 double second twice pair,three 3 third triple,four 4 fourth,five 5 fifth,six 6 sixth,\
seven 7 seventh,eight 8 eighth,nine 9 ninth,ten 10 tenth,eleven 11,twelve 12 dozen,twenty 20,thirty 30,forty 40,fifty 50,hundred 100,\
britain british uk england english,america american us usa states,france french,germany german,spain spanish,italy italian,china chinese,\
russia russian,japan japanese,australia australian,canada canadian,ireland irish,scotland scottish,wales welsh,india indian,brazil brazilian,\
portugal portuguese,netherlands dutch holland,belgium belgian,sweden swedish,norway norwegian,denmark danish,turkey turkish,greece greek,\
mexico mexican,argentina argentine argentinian,israel israeli,egypt egyptian,iran iranian,iraq iraqi,syria syrian,poland polish,\
ukraine ukrainian,korea korean,pakistan pakistani,africa african,europe european,asia asian,switzerland swiss,austria austrian,\
kill die dead death murder fatal,injure wound hurt,arrest detain held custody,say tell state claim announce reveal report,\
win beat defeat victory triumph,lose defeat loss,sign join signing,begin start launch open,end finish conclude stop,leave quit depart exit,\
buy purchase acquire,sell sale sold,child kid boy girl son daughter,mother mum mom parent,father dad parent,police officer cop,\
big large huge massive giant,small little tiny,house home residence property,car vehicle,plane aircraft flight jet airplane,\
doctor physician medic,hospital clinic,company firm business,money cash fund,show reveal display,find discover locate,get receive obtain,\
help assist aid support,job role position post,boss manager head chief,wife husband spouse married marry wed wedding,movie film,\
increase rise grow climb up,decrease fall drop decline reduce down cut,attack assault strike raid,fire blaze burn,storm hurricane cyclone,\
court trial judge tribunal,prison jail sentenced,vote election ballot poll,leader head chief,law legislation bill act,\
fix repair resolve solve patch,error failure bug issue problem fault,create add make build introduce new,remove delete drop eliminate,\
change modify edit update alter revise,rename renaming renamed,run execute launch invoke,test spec verify check validate,\
config configuration setting settings configure,folder directory dir,repo repository,function method fn func,parameter argument arg param option flag,\
documentation docs document doc readme,dependency dependencies deps dep package,environment env,production prod live,database db,\
message msg,command cmd script,approve approval accept confirm confirmed,want prefer request ask wish require,must should need required have,\
forbid prohibit avoid never not,keep retain preserve remain stay leave,use employ utilize via with,implement implementation build develop,\
deploy deployment release ship,done complete finish finished completed,pending todo remaining outstanding open unresolved,\
commit committed push,merge merged,skip ignore omit exclude,include contain hold,replace swap substitute switch,move migrate relocate transfer,\
show display render print output,read load parse,write save store persist,send emit post,call invoke,wait await pause,\
explain describe clarify,refactor restructure rewrite cleanup,auth authentication login,\
app application,img image picture photo,info information,max maximum,min minimum,num number count,ui interface frontend";
